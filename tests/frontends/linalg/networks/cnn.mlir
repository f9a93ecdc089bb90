#map = affine_map<(d0, d1, d2, d3) -> (d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1, d2, d3) -> ()>
#map4 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d3)>
#map5 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
#map6 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#map9 = affine_map<(d0, d1) -> (d0, d1)>
#map10 = affine_map<(d0, d1) -> (d0)>
module @jit_network {
  func.func public @main(%arg0: tensor<1x16x16x3xf32>) -> tensor<1x5xf32> {
    %cst = arith.constant dense<[[[-0.211018518, 0.0478455946, 0.157641456, -0.216350392, -0.100513317, -0.207612827, -0.258205712, 0.0203725733], [-0.147226468, 0.126225814, -0.00588438474, 0.0825254693, -0.0584565811, -0.126999483, -0.0181346275, -9.992260e-04], [-0.141171098, 0.0853190943, 0.149318978, 0.0316165425, 0.342698187, -0.126467809, 0.104119286, -0.0817469581]], [[0.0469259024, -0.165989861, 0.223024681, 0.0352041796, 0.238448903, -0.253219128, -0.0987030416, -0.178513154], [-0.106388375, -0.13852194, -0.0241081864, -0.00344942883, -0.00819697324, -0.111104771, 0.037485037, 0.175123096], [-0.180455118, 1.777250e-04, -0.0148141775, 0.0936709269, -0.0127717173, -0.00313296076, -0.19821915, 0.00434076786]], [[-0.184376895, 0.103140853, -0.0206437875, 0.00797168351, -0.178238079, 0.160751522, 0.138462782, 0.172304779], [0.445477217, -0.010503876, 0.24068056, -0.0247655604, 0.0788174569, 0.0730674863, 0.0529183522, 0.131651238], [-0.0607872754, 0.00818645675, 0.10706193, 0.349570781, -0.168471336, -0.361226529, -0.0968170985, 0.0179856867]]]> : tensor<3x3x8xf32>
    %cst_0 = arith.constant 1.600000e+01 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 1.000000e+00 : f32
    %cst_3 = arith.constant 6.000000e+00 : f32
    %cst_4 = arith.constant 0.000000e+00 : f32
    %cst_5 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_6 = arith.constant dense<"0x14FFCD3CCC70D8BC9728033E4CDEAB3C0169DBBDFD1B943D9487853E52F6413EFE1F10BE449481BE104BFFBDBE6A073C4915EEBEF03B33BD9E297FBEE6F715BEB1EDDEBD7A8E81BD979AA83DBA81553E5897D2BC05ED8B3E5C3B08BE81FA8F3DDC07393E9E079A3CC64418BEF5C43CBE087CBBBD4462343D12C54EBE4C5B2BBDE86F02BDC587DD3D48D92F3D888F913D73E705BEE65BD4BCE58E203E67ED983EA6ED80BE9A069B3E51D1893E3803203E5EA4583D319580BD234D953EFFBAC83EC77CB83EA8AA863E0D62923DB27677BE5D8669BA3172063E9FED83BE8DD7A13D7A12B03DAF8C0E3EE28172BE468407BE8DC3B2BD4F936FBE7C1CB23E0220CBBDF7BE863D98D253BDCB25A23E7934873EEBB5013EB0A3E1BE117D2A3CD9040C3E809C4D3E4018FDBDEF92BA3E4E3687BE1F7B07BE8C7F3F3EFEBD203C850BCD3E576F1A3D9BAD01BE67A69ABD7B775FBE9ED582BEB81B013EA70BEE3D1590843E138B1ABEF0F6AC3E926D6BBD2B38A13EE344B1BD82A016BECA9F4C3DD93D533E28E6033D26D5EFBD455789BE03848FBE1EE6CD3D77B14A3E139706BDA9075CBE8DCC323EC21C83BE4E0912BE715EFE3D1A6AE6BECA419E3D763DEEBD3A0BB33C0B0F78BC7692253D9A2A0E3E6A501BBE3182913E3AB4143EE4CB2C3E6C906E3E4E4C213E08DE2C3E84B4773C051A92BE0542DDBCBB981DBE52B091BE7BB9533DBBE0E8BD69E752BE4C9B55BE24E35B3D7BE9923D6E6B873EE16136BB695E553E88978F3ECE8D6B3E0635F2BE6AA27B3EBD1B8B3DA693AD3D040E983DFFC69C3D02D5823DCA0293BD3ABAC2BE2672B2BCB29A24BEAC375D3EBA8E6CBD1AC4883CD2FF2DBEA626D1BD892A17BB381A98BE3D52763DEDC9ADBCDED572BE3C94F5BE6A25D23DE5C773BD6917D9BD377541BDD401BA3E153023BCC1EA8D3CB94698BE01B0A83ECBE63B3E1D825A3EC9361C3C1CBB3B3E98F0973D8929FB3D5A5AF9BC17ED96BE99B5523ECE23C6BE5E8E44BD798B27BDE89355BE9F22FB3D2F1C24BDF7F0B2BD5BEDD43DEF34C3BD473B8E3EBCF48F3D6B49C2BDBD17C7BEF7E985BE3C955E3EC4D125BCA1EF67BDDB44A83EE15783BEACE2EFBD6992C1BDEC29F03D5BE407BE8641FBBD075EA4BEEA5E153EEB18253EB91FC3BDDFCE053DF15D84BE3241C1BD281A8D3E9961DE3CCB94EC3E923721BE3BAFED3D8B2820BD4DC2E73D"> : tensor<3x3x3x8xf32>
    %cst_7 = arith.constant dense<[-0.122453928, -0.243038476, -0.226011172, 0.0573911071, -0.0056227413, 0.00108636171, -0.229241803, -0.0367859118]> : tensor<8xf32>
    %cst_8 = arith.constant dense<[1.20743346, 1.18527877, 1.03302538, 1.27667809, 1.13385344, 1.49737656, 1.09176469, 1.20858061]> : tensor<8xf32>
    %cst_9 = arith.constant dense<[0.208280444, -0.214958295, -0.0355827883, 0.133622691, -0.0599706322, 0.223788813, 0.152252749, -0.315375119]> : tensor<8xf32>
    %cst_10 = arith.constant dense<[-0.0944868326, 0.0564147457, -0.114999734, -0.0432553031, 0.159956977, 0.063356258, -0.184123814, 0.0349212736]> : tensor<8xf32>
    %cst_11 = arith.constant dense<"0x9E0ABDBAE3DDE5BD1BB031BE28FB1C3FBD717DBC8D81CEBE5AD504BECFDC0A3EAFCDCCBD484F8B3E8A4A4D3E7497F9BC6E6BC1BD83C84DBE685A0FBE90D996BE0DA9763E44E3A23EE8A080BE380272BE7A18B5BEB86545BE610B1FBF51F069BEDCCD843E64968DBDD3042F3E1F48C8BDD64AB43E0A33233DD8779CBD22AF023F57E784BD461B7ABE9967253D6282FEBB1E625A3E29C03CBE58CE243E94A42E3E0BBE08BEC0BA053D54232ABEF335F03E313510BE4C94B9BD9C485ABE72C58DBD59099ABA433E1D3E2A0EFABD9F2F18BD6B0C91BEB57329BEEC180D3F223F553E200920BE11F388BEA3CC47BE39278EBB9097E33BEF7118BEC7BE83BECDA6913EA702B93D4E6C99BD02C434BD4BE5D8BD565316BF1680BD3C5C3F5BBE89594DBE312003BEB3F9153E87B96FBED4DE92BEAD0A033EA87E1A3EBE6344BEAC5BE63DC1E76EBD8DD1763D511F81BEA8932A3E6C6D763EFC78023E30B2E43DF72341BF0582553D28C2A6BB5BEBF0BC732401BE826B353CA4CDA83D631858BD0FC7BDBD84DA7B3E126162BECDF9523E43D8103DC8B824BE9D8D6DBD296A3CBED3400A3E25808E3D5010E4BDFCBB61BE732A773D9412443E6D82BABC705BAB3D4E059ABD29695D3C749E6EBD1BE1703DC8999ABE23EE033E565C3CBDC8E2923D1A648BBD4E38833D2EA95BBEF089733E6671AEBE0BD654BEC20E413D88CB953E50D7633D2C164BBDE2ED91BEA0B11CBD174482BB3E1DAD3E8FD2FE3D41949CBECC8ACF3ECACBA1BD041D34BE9705973E280A23BCF47C96BDBF3A333D81082D3E6D6F4B3E1BD28CBEFEA4CC3ED1EA413E1D529BBD5BA927BE297446BEAB24CA3CB7B604BE6DA51CBE1825263EA853953DCC9DA1BDB85F163E03058C3E212760BEBD1BF7BD880C413E313D133E32B6393D59106E3EA3DD5EBEB67697BEF17531BEB8C6C83CE00923BE8790C7BD16AE47BEB620FEBDCAC74DBEA083963D2FCB223E68CAC4BDCACA29BDAEFDEDBDBA99D93DCFE8913CDE3DA33E495A60BE247B943DDFDBB53DE4A293BDFD03EF3D024E93BE26F7D83EE46C89BE64603C3E1E9B65BE6BB36B3E7B9A9DBDB1C7013DFCCB2E3C2B6E613EB2B483BD78EB17BFF8A81BBE447F163D706AB4BDC9A81D3E60F04F3EFD1BF2BC298A98BE0FBD8D3E32CF5D3EEE1875BD84E3D73E3EE68EBDD3E168BE0F62FFBC87BD5C3E8FFD3FBE32CEC73ECB9B37BE3777433E0503DF3D3768FCBC0C4B5D3E539499BEEE038B3E09AE50BC752EDEBD4C6E193E3C11593E73A71D3ECBBFCC3E2C555D3E5B6E833ED620DDBD4F87AE3C0199E63D118D68BB7E19773D5388AE3DB2E62C3EDC79A6BC1B478FBD98A329BE75A036BE361E703EE27A8ABC8D2A213E9DD984BEEA77C6BE98DA56BE47D46A3E05BE5A3EC600883DD24824BE9B4ED6BCE6EC73BD144D8DBD8F4F00BF0DB42FBEB9BC1BBD3F489B3E43AE033D72738F3E2943A1BDA3004FBD80A647BFB5C7BD3D2317E03DE39BB43E9D60C7BD1E439A3CFC7D10BEBFE570BE650B12BEB84F8DBDFFCB8A3E41E7E73951E721BEE073E83C053C323D097E0ABE5E226A3EEF5DC1BE8EEF2EBD9E34083E350E89BE33F8933D6A64843EE1D2B93D8712ADBE642215BE30607C3E7065743D1C3901BB3CB7B43DBBAB133EFB1711BE50E56DBD5426EA3C1ACEDEBDA4A5DABCEEE6843EA23546BE4F4AC53EE371C03EC974AFBE310DE7BCD15D8C3D8FD31BBEF6C517BEAE7D42BD3862173E3D71D1BDAF0DBB3EF58B6D3D310FA8BC7967943E2C43003E8642973D96A287BD8BC0B93ED542263E73A226BD5481A1BECEC2983DEC3C6ABE7EB6AFBE50AE64BDC594663D7A53833E7162673DA312253E8F0F7BBEB9AA93BB0182CB3C8896303E6027BE3CE5AC243E1F85CEBD4B9E923DE5EDA93D3EF47FBE1ECD0F3D723883BD86FAC2BE1D48443EA23794BDCA912EBE878C9ABD696DE23CF1689A3EB7EE07BD847FC13D8FA78C3ED48ADA3D89D75A3EAE2DC3BD31E91D3ECBF93DBC180A5C3E6D874DBE47A71FBE09EB813ECAA120BDC00793BD76307E3C86350DBE0B64883E19D47FBE61BDF6BCA31C8E3D4720ABBCF94E24BE9BD831BED73DAE3DDA0A53BEBB59043EA3129CBE3252E3BD66EFED3B693880BE2688053EEFFD72BB1A3054BEBE889BBEFC50A0BE603A273C37EB6CBE80C38BBE986B3DBD4F37E93E6F5C633DEB3E1C3E45422E3DD15A203E438889BE7456B0BD3F19563DDCD66ABBE6471DBD155F08BEDDAA53BD438E1EBEE6FEF7BEA5A274BED3D3C23DDD719F3EEBB5B93E9F849E3C08F7363E31F4393E51C60DBE79DEADBE536CCA3B0B73B4BE0D0B83BDB315F93D456A91BEAAA6D33BA9F47D3E5513943D66F1D53D50B3393E9674B13E7217F83C41CD7B3E0A4552BCF4B5DFBD5FF3803D1524F8BDF4C0EABD39EEF8BD2B0DEBBEB0D9AC3CB06A81BEEEBFAFBC107A943ED866D5BDC801DEBD11AA8B3E50C4DF3D25FE473EFC8691BD1B35193EFF860CBEF6710ABEBE38F43DFA17F5BD1B1B1D3E93E8F43E7AA9ACBE2C0D1ABEEC67653E32B2EDBC8CCA6D3E75DC4EBEF5B7873DE6ABF6BCC0FBE53C08A0873D78DB79BEBDFB5BBE58488F3E5F33703DE33CAE3C8F6C10BC310A923D60BC6CBECE994CBEE794853E6DD9F73C41242E3E7914F8BD08FA8C3E116D8D3D481EC53D71C2E03D3D3A23BEC10CBFBE9D1E5CBE2EF7A63EA630853E58198EBD1C2277BD014C543E1CF609BD510B85BE7497813ECD73C33D2BD600BF5D4880BDA763EB3C631EC53DD648F93C2E3302BEDDA8BDBC1C80713D888C5BBD9E5498BDA136803E81DD41BEE7238FBD8000D0BED094DD3DE9A0293E03A9E03D78F03B3E7483B43D584B8C3DF420C23DA4FA5ABD9B5E733E6EC68EBDAEBE95BE23092E3E1083BD3E92A344BE2F83A6BCE7600CBE0CE39BBD9609173C87527EBE327463BD751D96BEFDBEE8BD35E872BE48E558BE6D1EB0BE4CB9793EB782D03D2B59C4BEE975F4BD4B4E09BE5F810DBE2F2994BE8A7F1A3E5425A2BDF9C0BF3D58C2D73D79D88C3ECAD7B9BE6908B23E3BED813E53BAEA3D7114F43E21EB273D273D283E293A17BEFF50683EA87B093DC4CFB8BD4AC6D83E1FB179BD5D4BE83A9B9C21BDEBC21ABEF39BD93DEE39173EA726913D25B9F1BE13704E3E27758FBD601A79BE981AF73D0A8BE63D1A9F55BE6B2DFD3E45BB77BEA075B1BED35F6CBE6A7D913ED40F10BDF96498BDADAD4BBC815FF4BDAF5D0DBE295203BE42FD103E47FD503E"> : tensor<3x3x8x8xf32>
    %cst_12 = arith.constant dense<[-0.316774637, -0.0491102226, -0.155321717, 0.151496619, -0.183694959, -0.056469027, -0.0465895869, 0.113514282]> : tensor<8xf32>
    %cst_13 = arith.constant dense<[1.5091809, 1.06812501, 1.15192306, 1.07233763, 1.30538738, 1.06531966, 1.06733739, 1.05409789]> : tensor<8xf32>
    %cst_14 = arith.constant dense<[-5.423710e-02, -0.311087579, -0.0755232796, 0.101462789, 0.117876954, -0.206348553, 0.0598291308, 0.231281608]> : tensor<8xf32>
    %cst_15 = arith.constant dense<[0.35101831, -0.140158981, -1.728400e-01, 0.0108831739, -5.856180e-01, -0.106206797, -0.0541949943, -9.186840e-02]> : tensor<8xf32>
    %cst_16 = arith.constant dense<[0.0142776873, -0.232374668, 0.0544064268, -0.153387919, 0.080533944, -0.0651036352, 0.0794925168, -0.348639041]> : tensor<8xf32>
    %cst_17 = arith.constant dense<[1.08769333, 1.02971923, 1.28497493, 1.3764677, 1.10815465, 1.27799439, 1.13286841, 1.04599428]> : tensor<8xf32>
    %cst_18 = arith.constant dense<[-0.231959134, -0.148135036, -6.275130e-02, -0.17510657, -0.384035677, -0.153857365, -0.0123487869, -0.101412013]> : tensor<8xf32>
    %cst_19 = arith.constant dense<[-0.0151145682, 0.0167315956, 0.179315105, 0.440764815, 0.146355763, -0.280865699, -5.313890e-01, -0.0188924335]> : tensor<8xf32>
    %cst_20 = arith.constant dense<[[0.034995418, 0.0184435565, 0.23655802, 0.195209965, -0.00985358096], [-0.0939094275, -0.0692017749, -0.0712608323, -0.0451198965, -0.314530104], [-0.092208147, -8.497600e-02, -0.0377760753, -0.0508600026, 0.134401426], [-0.106388673, -0.0877155438, 0.108387753, -0.0470629707, 0.0432909466], [0.133867145, 0.0843938961, 0.050032489, -0.0392883122, 0.136378825], [0.0351099893, -0.100970551, -0.0301618371, -0.243625879, -0.192311198], [-0.376581609, -0.135986283, 0.267109096, -0.111297771, 0.157508165], [-6.89970853E-4, -0.140109763, 0.267655909, 0.116441168, -0.350360125]]> : tensor<8x5xf32>
    %0 = tensor.empty() : tensor<1x8x8x8xf32>
    %1 = linalg.fill ins(%cst_4 : f32) outs(%0 : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %padded = tensor.pad %arg0 low[0, 0, 0, 0] high[0, 1, 1, 0] {
    ^bb0(%arg1: index, %arg2: index, %arg3: index, %arg4: index):
      tensor.yield %cst_4 : f32
    } : tensor<1x16x16x3xf32> to tensor<1x17x17x3xf32>
    %2 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%padded, %cst_6 : tensor<1x17x17x3xf32>, tensor<3x3x3x8xf32>) outs(%1 : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %3 = tensor.empty() : tensor<1x8x8x8xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_7 : tensor<8xf32>) outs(%3 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x8x8x8xf32>
    %5 = tensor.empty() : tensor<1x8x8x8xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %4 : tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) outs(%5 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %109 = arith.subf %in, %in_24 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %7 = tensor.empty() : tensor<8xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%cst_8 : tensor<8xf32>) outs(%7 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %109 = math.rsqrt %in : f32
      linalg.yield %109 : f32
    } -> tensor<8xf32>
    %9 = tensor.empty() : tensor<1x8x8x8xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8 : tensor<8xf32>) outs(%9 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x8x8x8xf32>
    %11 = tensor.empty() : tensor<1x8x8x8xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6, %10 : tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) outs(%11 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %109 = arith.mulf %in, %in_24 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %13 = tensor.empty() : tensor<1x8x8x8xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_9 : tensor<8xf32>) outs(%13 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x8x8x8xf32>
    %15 = tensor.empty() : tensor<1x8x8x8xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %14 : tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) outs(%15 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %109 = arith.mulf %in, %in_24 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %17 = tensor.empty() : tensor<1x8x8x8xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_10 : tensor<8xf32>) outs(%17 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x8x8x8xf32>
    %19 = tensor.empty() : tensor<1x8x8x8xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%16, %18 : tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) outs(%19 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %109 = arith.addf %in, %in_24 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %21 = tensor.empty() : tensor<1x8x8x8xf32>
    %22 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%20 : tensor<1x8x8x8xf32>) outs(%21 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %109 = arith.maximumf %in, %cst_4 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %23 = tensor.empty() : tensor<1x8x8x8xf32>
    %24 = linalg.fill ins(%cst_4 : f32) outs(%23 : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %padded_21 = tensor.pad %22 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%arg1: index, %arg2: index, %arg3: index, %arg4: index):
      tensor.yield %cst_4 : f32
    } : tensor<1x8x8x8xf32> to tensor<1x10x10x8xf32>
    %25 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded_21, %cst_11 : tensor<1x10x10x8xf32>, tensor<3x3x8x8xf32>) outs(%24 : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %26 = tensor.empty() : tensor<1x8x8x8xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_12 : tensor<8xf32>) outs(%26 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x8x8x8xf32>
    %28 = tensor.empty() : tensor<1x8x8x8xf32>
    %29 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%25, %27 : tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) outs(%28 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %109 = arith.subf %in, %in_24 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %30 = tensor.empty() : tensor<8xf32>
    %31 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%cst_13 : tensor<8xf32>) outs(%30 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %109 = math.rsqrt %in : f32
      linalg.yield %109 : f32
    } -> tensor<8xf32>
    %32 = tensor.empty() : tensor<1x8x8x8xf32>
    %33 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%31 : tensor<8xf32>) outs(%32 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x8x8x8xf32>
    %34 = tensor.empty() : tensor<1x8x8x8xf32>
    %35 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%29, %33 : tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) outs(%34 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %109 = arith.mulf %in, %in_24 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %36 = tensor.empty() : tensor<1x8x8x8xf32>
    %37 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_14 : tensor<8xf32>) outs(%36 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x8x8x8xf32>
    %38 = tensor.empty() : tensor<1x8x8x8xf32>
    %39 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%35, %37 : tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) outs(%38 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %109 = arith.mulf %in, %in_24 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %40 = tensor.empty() : tensor<1x8x8x8xf32>
    %41 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_15 : tensor<8xf32>) outs(%40 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x8x8x8xf32>
    %42 = tensor.empty() : tensor<1x8x8x8xf32>
    %43 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%39, %41 : tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) outs(%42 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %109 = arith.addf %in, %in_24 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %44 = tensor.empty() : tensor<1x8x8x8xf32>
    %45 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%43 : tensor<1x8x8x8xf32>) outs(%44 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %109 = arith.maximumf %in, %cst_4 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %46 = tensor.empty() : tensor<1x8x8x8xf32>
    %47 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%45 : tensor<1x8x8x8xf32>) outs(%46 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %109 = arith.minimumf %in, %cst_3 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %padded_22 = tensor.pad %47 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%arg1: index, %arg2: index, %arg3: index, %arg4: index):
      tensor.yield %cst_4 : f32
    } : tensor<1x8x8x8xf32> to tensor<1x10x10x8xf32>
    %48 = tensor.empty() : tensor<1x8x8x8xf32>
    %49 = linalg.fill ins(%cst_4 : f32) outs(%48 : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %50 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded_22, %cst : tensor<1x10x10x8xf32>, tensor<3x3x8xf32>) outs(%49 : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %51 = tensor.empty() : tensor<1x8x8x8xf32>
    %52 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_16 : tensor<8xf32>) outs(%51 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x8x8x8xf32>
    %53 = tensor.empty() : tensor<1x8x8x8xf32>
    %54 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%50, %52 : tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) outs(%53 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %109 = arith.subf %in, %in_24 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %55 = tensor.empty() : tensor<8xf32>
    %56 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%cst_17 : tensor<8xf32>) outs(%55 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %109 = math.rsqrt %in : f32
      linalg.yield %109 : f32
    } -> tensor<8xf32>
    %57 = tensor.empty() : tensor<1x8x8x8xf32>
    %58 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%56 : tensor<8xf32>) outs(%57 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x8x8x8xf32>
    %59 = tensor.empty() : tensor<1x8x8x8xf32>
    %60 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%54, %58 : tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) outs(%59 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %109 = arith.mulf %in, %in_24 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %61 = tensor.empty() : tensor<1x8x8x8xf32>
    %62 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_18 : tensor<8xf32>) outs(%61 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x8x8x8xf32>
    %63 = tensor.empty() : tensor<1x8x8x8xf32>
    %64 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%60, %62 : tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) outs(%63 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %109 = arith.mulf %in, %in_24 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %65 = tensor.empty() : tensor<1x8x8x8xf32>
    %66 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_19 : tensor<8xf32>) outs(%65 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x8x8x8xf32>
    %67 = tensor.empty() : tensor<1x8x8x8xf32>
    %68 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%64, %66 : tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) outs(%67 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %109 = arith.addf %in, %in_24 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %69 = tensor.empty() : tensor<1x8x8x8xf32>
    %70 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%68 : tensor<1x8x8x8xf32>) outs(%69 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %109 = arith.negf %in : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %71 = tensor.empty() : tensor<1x8x8x8xf32>
    %72 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%70 : tensor<1x8x8x8xf32>) outs(%71 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %109 = math.exp %in : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %73 = tensor.empty() : tensor<1x8x8x8xf32>
    %74 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%72 : tensor<1x8x8x8xf32>) outs(%73 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %109 = arith.addf %in, %cst_2 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %75 = tensor.empty() : tensor<1x8x8x8xf32>
    %76 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%74 : tensor<1x8x8x8xf32>) outs(%75 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %109 = arith.divf %cst_2, %in : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %77 = tensor.empty() : tensor<1x8x8x8xf32>
    %78 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%68, %76 : tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) outs(%77 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %109 = arith.mulf %in, %in_24 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %79 = tensor.empty() : tensor<1x8x8x8xf32>
    %80 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%22, %78 : tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) outs(%79 : tensor<1x8x8x8xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %109 = arith.addf %in, %in_24 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x8x8xf32>
    %81 = tensor.empty() : tensor<1x4x4x8xf32>
    %82 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%81 : tensor<1x4x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4x8xf32>
    %padded_23 = tensor.pad %80 low[0, 0, 0, 0] high[0, 1, 1, 0] {
    ^bb0(%arg1: index, %arg2: index, %arg3: index, %arg4: index):
      tensor.yield %cst_1 : f32
    } : tensor<1x8x8x8xf32> to tensor<1x9x9x8xf32>
    %83 = tensor.empty() : tensor<3x3xf32>
    %84 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%padded_23, %83 : tensor<1x9x9x8xf32>, tensor<3x3xf32>) outs(%82 : tensor<1x4x4x8xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %109 = arith.maximumf %out, %in : f32
      linalg.yield %109 : f32
    } -> tensor<1x4x4x8xf32>
    %85 = tensor.empty() : tensor<1x8xf32>
    %86 = linalg.fill ins(%cst_4 : f32) outs(%85 : tensor<1x8xf32>) -> tensor<1x8xf32>
    %87 = linalg.generic {indexing_maps = [#map7, #map8], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%84 : tensor<1x4x4x8xf32>) outs(%86 : tensor<1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %109 = arith.addf %out, %in : f32
      linalg.yield %109 : f32
    } -> tensor<1x8xf32>
    %88 = tensor.empty() : tensor<1x8xf32>
    %89 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%87 : tensor<1x8xf32>) outs(%88 : tensor<1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %109 = arith.divf %in, %cst_0 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8xf32>
    %collapsed = tensor.collapse_shape %89 [[0, 1]] : tensor<1x8xf32> into tensor<8xf32>
    %90 = tensor.empty() : tensor<5xf32>
    %91 = linalg.fill ins(%cst_4 : f32) outs(%90 : tensor<5xf32>) -> tensor<5xf32>
    %92 = linalg.vecmat ins(%collapsed, %cst_20 : tensor<8xf32>, tensor<8x5xf32>) outs(%91 : tensor<5xf32>) -> tensor<5xf32>
    %expanded = tensor.expand_shape %92 [[0, 1]] output_shape [1, 5] : tensor<5xf32> into tensor<1x5xf32>
    %93 = tensor.empty() : tensor<1xf32>
    %94 = linalg.fill ins(%cst_1 : f32) outs(%93 : tensor<1xf32>) -> tensor<1xf32>
    %95 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "reduction"]} ins(%expanded : tensor<1x5xf32>) outs(%94 : tensor<1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %109 = arith.maximumf %out, %in : f32
      linalg.yield %109 : f32
    } -> tensor<1xf32>
    %96 = tensor.empty() : tensor<1x5xf32>
    %97 = linalg.generic {indexing_maps = [#map10, #map9], iterator_types = ["parallel", "parallel"]} ins(%95 : tensor<1xf32>) outs(%96 : tensor<1x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x5xf32>
    %98 = tensor.empty() : tensor<1x5xf32>
    %99 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%expanded, %97 : tensor<1x5xf32>, tensor<1x5xf32>) outs(%98 : tensor<1x5xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %109 = arith.subf %in, %in_24 : f32
      linalg.yield %109 : f32
    } -> tensor<1x5xf32>
    %100 = tensor.empty() : tensor<1x5xf32>
    %101 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%99 : tensor<1x5xf32>) outs(%100 : tensor<1x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %109 = math.exp %in : f32
      linalg.yield %109 : f32
    } -> tensor<1x5xf32>
    %102 = tensor.empty() : tensor<1xf32>
    %103 = linalg.fill ins(%cst_4 : f32) outs(%102 : tensor<1xf32>) -> tensor<1xf32>
    %104 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "reduction"]} ins(%101 : tensor<1x5xf32>) outs(%103 : tensor<1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %109 = arith.addf %out, %in : f32
      linalg.yield %109 : f32
    } -> tensor<1xf32>
    %105 = tensor.empty() : tensor<1x5xf32>
    %106 = linalg.generic {indexing_maps = [#map10, #map9], iterator_types = ["parallel", "parallel"]} ins(%104 : tensor<1xf32>) outs(%105 : tensor<1x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x5xf32>
    %107 = tensor.empty() : tensor<1x5xf32>
    %108 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%101, %106 : tensor<1x5xf32>, tensor<1x5xf32>) outs(%107 : tensor<1x5xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %109 = arith.divf %in, %in_24 : f32
      linalg.yield %109 : f32
    } -> tensor<1x5xf32>
    return %108 : tensor<1x5xf32>
  }
}

