"""Backend for programs with operations of CLML (`cl_qcom_ml_ops`), as C."""
