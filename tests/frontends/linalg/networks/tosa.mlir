#map = affine_map<(d0, d1, d2, d3) -> (d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
module attributes {tosa.target_env = #tosa.target_env<specification_version = "1.0", level = none, profiles = [pro_int, pro_fp], extensions = [dynamic, doubleround]>} {
  func.func @main(%arg0: tensor<1x16x16x3xf32>) -> tensor<1x10xf32> {
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant 5.000000e-01 : f32
    %cst_1 = arith.constant 1.600000e+01 : f32
    %cst_2 = arith.constant -3.40282347E+38 : f32
    %cst_3 = arith.constant dense<[[[-0.174979463, 0.180775315, -0.75657618, 0.499736667, 0.721955358, 0.382243931, 0.335003972, -2.26336503, 0.156377852, -0.0152671896], [-8.822730e-02, -0.378346801, 0.0332189873, 0.247270435, -0.158272892, -0.277994484, 0.737852275, -0.663220286, 0.618093133, 0.106087476], [-0.482583404, -0.173989147, -0.551996171, 0.405038714, 0.208741069, -0.334077716, -0.661330997, 0.181029648, 0.57443136, -0.0683018118], [0.251011491, -0.225616291, 0.0405415259, -0.174769744, 0.176425278, -0.905863523, 0.386514306, -0.13795948, 0.21516484, -0.204186067], [0.192216709, -0.643537641, 0.713492632, -1.02212667, -0.623543262, 0.141399652, 0.877705336, 0.16687578, -0.148745075, -0.85505408], [-1.147660e-01, -0.0119262058, 1.01434112, 0.373275131, -0.917455792, 1.21606743, -0.237005934, -0.527675807, 0.884893536, -0.0298534557], [-0.22044155, 0.131271586, 0.506933272, 0.596001744, -0.825121402, 1.19908881, 0.568116963, -0.227520645, -0.491195917, -0.581407487], [0.0740270615, -0.388809741, -0.458924413, 0.486752629, 0.218740404, -0.236742765, 0.440548539, 0.820427179, -0.656697809, -0.361975133]]]> : tensor<1x8x10xf32>
    %cst_4 = arith.constant dense<[[[[-0.300005049], [0.816267729], [0.601438999], [-0.0914031788], [-0.283329546], [-0.602880597], [-0.41997993], [-0.88388586]], [[0.722637773], [0.954420447], [-0.753682852], [-0.709009767], [-1.06110716], [-0.578312516], [-1.86380219], [-0.685367405]], [[0.778149247], [-0.207403511], [0.512750506], [-0.293381423], [1.0564003], [0.11953079], [-0.229201376], [1.53145444]]], [[[-0.194683105], [-0.732733965], [0.121146008], [-0.023301024], [0.639794707], [-0.552980363], [0.482830167], [0.511649072]], [[-0.400612354], [0.0979464054], [-0.498451173], [1.40748477], [-0.422483742], [-0.271844655], [-0.639502823], [-0.20767276]], [[-0.00352561614], [0.460673451], [-3.662920e-01], [-0.111464366], [-0.84989357], [-0.496441364], [1.65348458], [0.624745965]]], [[[-0.468854427], [-0.802438378], [-0.585349679], [-0.0130145159], [0.0208366737], [-0.446616352], [-0.771944642], [0.853427172]], [[0.271011263], [-0.224740818], [-0.132396728], [-0.317718267], [-1.76162732], [0.0693970919], [-0.642326653], [-0.601610601]], [[-0.384157479], [4.393810e-01], [-0.702318489], [-0.860568881], [0.383911252], [0.452621341], [-0.575360179], [0.337438613]]]]> : tensor<3x3x8x1xf32>
    %cst_5 = arith.constant dense<"0x4F7F9A3D9954A2BDE2BCC43EB9E6803DC18EA4BEFC295E3E5E4B483FBE78113FFD2FD8BE665E42BF4C78BFBE1D20CB3CF78FB2BFF46C06BE365F3FBFD9F3E0BE4532A7BEB75542BEE2E77C3E4C21203F82F19DBD88E3513F0A59CCBEC2F7573EE5C50A3F6D0B673D2967E4BEB8930DBF069D8CBEB349073ECE131BBF798400BEDCA7C3BDD425A63EF6E2033E4C575A3E2CDBC8BEEC449FBD58D6F03E1A64653F796441BFE789683FFAB94E3FD404F03E467B223ECADF40BEB4F35F3F3F8C963F955D8A3FFCFF493F14935B3E069939BFC6242FBB4AABC93E6EE445BF54C3723EDC0D843E06D3D53E6AE135BF6946CBBEAA1286BE7BAE33BF5D95853F025898BE721E4A3EF2DD1EBEB038733FB6CE4A3FE090C23EC43AA9BF9ABBFF3C4607D23E60351A3F30D2BDBE33EE8B3F75D14ABFAE38CBBEA99F0F3FFD1CF13CA4C8993F02A7E73D6884C2BE9AF967BE9C9927BF6D4044BF94A9C13EBD88B23E20D8463F9CD0E7BE34B9813F2E9230BE40D4713FAAF384BEC3F0E1BED877193E636E1E3F3CD9C53DDCDFB3BEE8024EBF044657BF966C9A3E1905183F9CE2C9BDBF0525BF6A19063F23AB44BFF50DDBBED5C6BE3E94CFACBFAF626D3E18AEB2BE6C48863D480B3ABDB15BF83DE73FD53E9FF8E8BE4A435A3F570EDF3EEB98013F51EC323F75F2F13E86A6013F63C7393D08275BBF84F1A5BD1865ECBE7B885ABF1CCB1E3E8CA8AEBE8F2D1EBF793420BF5BEA243E385E5C3E25214B3F69C908BCCF06203F4C63573F5AAA303FC4A7B5BFD0B93C3F9CA9503EBC2E823E0615643E7E2A6B3E833F443E2F845CBEAC0B92BF9CD585BD0BE8F6BEC1E9253F0C6B31BE27264D3DDE7F02BFFCDC9CBECEBFE2BB542764BFAEBD383E725782BD662036BF2D2FB8BF109C9D3EECD536BE8FD1A2BEE91711BE5F818B3F20C8F4BC22E0543D166A64BF02087D3F18ED0C3F96E1233F2E52EA3C55CC0C3FE4E8633E275FBC3EC403BBBDA26362BF33081E3FDA9A94BFC66A13BE3651FBBDEE2E20BFF759BC3E462AF6BDB93486BE04B29F3EB36792BEEA58553F1AEF573E10B791BECE5195BFF2DE48BFEDEF263FA6BAF8BCB9F32DBE48677C3FD20345BF01EAB3BECF2D91BE711FB43E88D6CBBE2471BCBE0A8D76BF5F0EE03E60A5F73ECB5792BE4EB6C83DEA8C46BFE6F090BE3CA7533F33C9A63D986FB13F5BD3F1BE6C43B23ED03CF0BDBAD1AD3E"> : tensor<8x3x3x3xf32>
    %cst_6 = arith.constant dense<[-0.00432681572, -0.336718857, -0.52057004, 1.83962202, -0.0464070365, -1.20999646, -0.389160365, 0.406823814]> : tensor<8xf32>
    %cst_7 = arith.constant 0.000000e+00 : f32
    %padded = tensor.pad %arg0 low[0, 0, 0, 0] high[0, 1, 1, 0] {
    ^bb0(%arg1: index, %arg2: index, %arg3: index, %arg4: index):
      tensor.yield %cst_7 : f32
    } : tensor<1x16x16x3xf32> to tensor<1x17x17x3xf32>
    %0 = tensor.empty() : tensor<3x3x3x8xf32>
    %transposed = linalg.transpose ins(%cst_5 : tensor<8x3x3x3xf32>) outs(%0 : tensor<3x3x3x8xf32>) permutation = [1, 2, 3, 0] 
    %1 = tensor.empty() : tensor<1x8x8x8xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_6 : tensor<8xf32>) outs(%1 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x8x8x8xf32>
    %3 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%padded, %transposed : tensor<1x17x17x3xf32>, tensor<3x3x3x8xf32>) outs(%2 : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %4 = tensor.empty() : tensor<1x8x8x8xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%3 : tensor<1x8x8x8xf32>) outs(%4 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %34 = arith.minimumf %in, %cst_0 : f32
      %35 = arith.maximumf %34, %cst_7 : f32
      linalg.yield %35 : f32
    } -> tensor<1x8x8x8xf32>
    %padded_8 = tensor.pad %5 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%arg1: index, %arg2: index, %arg3: index, %arg4: index):
      tensor.yield %cst_7 : f32
    } : tensor<1x8x8x8xf32> to tensor<1x10x10x8xf32>
    %6 = tensor.empty() : tensor<1x8x8x8x1xf32>
    %7 = linalg.fill ins(%cst_7 : f32) outs(%6 : tensor<1x8x8x8x1xf32>) -> tensor<1x8x8x8x1xf32>
    %8 = tensor.empty() : tensor<1x8x8x8xf32>
    %9 = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded_8, %cst_4 : tensor<1x10x10x8xf32>, tensor<3x3x8x1xf32>) outs(%7 : tensor<1x8x8x8x1xf32>) -> tensor<1x8x8x8x1xf32>
    %collapsed = tensor.collapse_shape %9 [[0], [1], [2], [3, 4]] : tensor<1x8x8x8x1xf32> into tensor<1x8x8x8xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_6, %collapsed : tensor<8xf32>, tensor<1x8x8x8xf32>) outs(%8 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %34 = arith.addf %in, %in_11 : f32
      linalg.yield %34 : f32
    } -> tensor<1x8x8x8xf32>
    %11 = tensor.empty() : tensor<1x8x8x8xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10 : tensor<1x8x8x8xf32>) outs(%11 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %34 = arith.negf %in : f32
      %35 = math.exp %34 : f32
      %36 = arith.addf %35, %cst : f32
      %37 = arith.divf %cst, %36 : f32
      linalg.yield %37 : f32
    } -> tensor<1x8x8x8xf32>
    %13 = tensor.empty() : tensor<1x4x4x8xf32>
    %14 = linalg.fill ins(%cst_2 : f32) outs(%13 : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %15 = tensor.empty() : tensor<2x2xf32>
    %16 = linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%12, %15 : tensor<1x8x8x8xf32>, tensor<2x2xf32>) outs(%14 : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %17 = tensor.empty() : tensor<1x1x1x8xf32>
    %18 = linalg.fill ins(%cst_7 : f32) outs(%17 : tensor<1x1x1x8xf32>) -> tensor<1x1x1x8xf32>
    %19 = tensor.empty() : tensor<4x4xf32>
    %20 = linalg.pooling_nhwc_sum {dilations = dense<1> : vector<2xi64>, strides = dense<4> : vector<2xi64>} ins(%16, %19 : tensor<1x4x4x8xf32>, tensor<4x4xf32>) outs(%18 : tensor<1x1x1x8xf32>) -> tensor<1x1x1x8xf32>
    %21 = tensor.empty() : tensor<1x1x1x8xf32>
    %22 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%20 : tensor<1x1x1x8xf32>) outs(%21 : tensor<1x1x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %34 = arith.divf %in, %cst_1 : f32
      linalg.yield %34 : f32
    } -> tensor<1x1x1x8xf32>
    %collapsed_9 = tensor.collapse_shape %22 [[0], [1, 2], [3]] : tensor<1x1x1x8xf32> into tensor<1x1x8xf32>
    %23 = tensor.empty() : tensor<1x1x10xf32>
    %24 = linalg.fill ins(%cst_7 : f32) outs(%23 : tensor<1x1x10xf32>) -> tensor<1x1x10xf32>
    %25 = linalg.batch_matmul ins(%collapsed_9, %cst_3 : tensor<1x1x8xf32>, tensor<1x8x10xf32>) outs(%24 : tensor<1x1x10xf32>) -> tensor<1x1x10xf32>
    %26 = tensor.empty() : tensor<1x1x10xf32>
    %27 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25 : tensor<1x1x10xf32>) outs(%26 : tensor<1x1x10xf32>) {
    ^bb0(%in: f32, %out: f32):
      %34 = math.exp %in : f32
      linalg.yield %34 : f32
    } -> tensor<1x1x10xf32>
    %28 = tensor.empty() : tensor<1x1xf32>
    %29 = linalg.fill ins(%cst_7 : f32) outs(%28 : tensor<1x1xf32>) -> tensor<1x1xf32>
    %reduced = linalg.reduce ins(%27 : tensor<1x1x10xf32>) outs(%29 : tensor<1x1xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %34 = arith.addf %in, %init : f32
        linalg.yield %34 : f32
      }
    %expanded = tensor.expand_shape %reduced [[0], [1, 2]] output_shape [1, 1, 1] : tensor<1x1xf32> into tensor<1x1x1xf32>
    %30 = tensor.empty() : tensor<1x1x1xf32>
    %31 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x1x1xf32>) outs(%30 : tensor<1x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %34 = arith.divf %cst, %in : f32
      linalg.yield %34 : f32
    } -> tensor<1x1x1xf32>
    %32 = tensor.empty() : tensor<1x1x10xf32>
    %33 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27, %31 : tensor<1x1x10xf32>, tensor<1x1x1xf32>) outs(%32 : tensor<1x1x10xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %34 = arith.mulf %in, %in_11 : f32
      linalg.yield %34 : f32
    } -> tensor<1x1x10xf32>
    %collapsed_10 = tensor.collapse_shape %33 [[0, 1], [2]] : tensor<1x1x10xf32> into tensor<1x10xf32>
    return %collapsed_10 : tensor<1x10xf32>
  }
}

