#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
module @jit_network {
  func.func public @main(%arg0: tensor<2x3x6xf32>) -> tensor<2x8xf32> {
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant dense<"0x8AE628BD3096103EE95BE6BD3298C73DF0DF26BE9CC4813D16EBA63EA98784BE1D768FBEC93721BE35B5E43CF218283E8B365E3DFB31483E8900F8BC13DF1ABE7CBA353DE3E763BE9747A5BD66F61DBDDF9081BE8E61613E097AE03DBED2A5BE7659233E05448BBD026FA8BD093A7F3CCEB98BBD53B98B3E7D1923BE343386BE3E1D29BEB58FEB3C8778E4BED1506EBE8CEC80BE64B4E7BEEA0F80BD7B36B9BD18F7723DBC2108BDAF3C5FBE608B3FBE508B343EDFC54CBE1480193EA722253D68E2EEBD17CAA03CCB7928BEF4B55E3E5903A9BE2F7714BD2C9532BE70209A3D850FDBBD918AE1BDCCEDA83DE95F1FBE2E38853EF24B5FBD7A9F73BC4F762BBD9E07CCBECCC89ABD4C08B5BE9159053EFC8500BFEDC158BEDDAF843D4706AA3EB369263E39EA40BD10C9A2BD9ECFDC3D529A873D22D99FBECEA3A83EBA7C2F3E0F13EE3D4FF02A3B0E2EB3BD7CD21F3EE04051BDE8412C3C94710E3EC73E0C3E0802C53D8E98A23D327D5BBEDDFEDBBE0CDBF73E363FC8BC9ED285BE520B033E9619C7BDA201DE3DE8357F3D0A7C5DBEBF0544BEA73677BE7B8B1D3EE40F5BBE2F050C3CAA58243EDD9963BC714248BD033E003E154FD13C9BFEB0BE318B073E914367BE9F26713E48B9023ED940CBBDA9913F3E31F66EBEE8C7A23E5BC0AABE5218363D4EE6CA3C5397B3BEE0A6B03EA372633D8B9097BEA29190BCA6C2BB3DA736053E345D1C3ECF899EBE207C0EBDFAC8B53E745FED3D180E06BDB2FF943D3FCD1EBEC6686DBD10058E3ABE958BBD47CC6C3EFA19F5BD3C76583E93551F3E2663763E3B2C87BE9579133C266AFE3D1D76403E90091ABDD14BA2BEFD369F3E7137DC3CA168A93D63D3553E1CED12BEB085B63E2CFA46BE36535F3E2CC1BEBD5F4605BD25DE75BE9B1668BDE3334A3E60443EBEFE5B793D7D15093C690985BE9F7543BE1718C63C12564DBE7F048EBE13429F3ED13AD4BEAB4502BD4F7941BEFB8CFBBB3954AB3EFD015E3C84B33C3DCAD31C3E11E5BBBA8B57933EBA2D053EE277043E65BA93BEE6B6333E83AE2FBE9ECD04BE65B3BDBDA7C5743EEE5FFC3D7092183E630A6D3DC842783E925EA9BB1043213E2795EC3D4934C93DF9BEB23D03ECC03D3593273E49ACADBC9CEB95BE041D6DBDDA9BFC3C053C8F3DB5FBAF3C19C7043EA4EED5BD0BAA33BDA164C03DE8D0CE3D737A5F3D4A35DF3D97040FBECC1037BEF46182BEDE20CF3E2736693E9EBAE6BD31F7923DBC1EEA3DEEFC71BE3CAB123D3AF8523EA7555BBE7D566C3E9FAA8F3CC8E145BDDA7FABBE8968A43E37A519BE84F184BE949425BEF2BAEE3D33C300BF154D713EF85C03BF8F6453BDC02CF9BD7421AD3E7225483E95D7FB3B6DC4F63D7AE3CCBDACDF7A3E8DAB263D10BBF13DCB86043DE6BA2C3E83290E3DB64CA33C5035BB3EAA56A8BBD6239F3E"> : tensor<8x32xf32>
    %cst_2 = arith.constant dense<"0x880BE4BD2654C5BDBF3FD03D888903BE957445BD3BC807BFE570F9BDB0FCEBBD0D28DB3E680B203D3808A3BC6F979C3C5A8551BE36886B3D0DFABB3D41872E3E3A6215BEC2FBC13DD760B0BD1DD92F3E189E6C3DF3C180BEBC75263E3958A6BE059BA6BB15B41A3E88C22FBCCF6B4EBE1269C5BDF056CCBD2A9D313E8CFAF93DA3917CBE9E20303E8175293EE41A133D9A97D2BEF69E363E7297A03DE4EC2D3E47E5EBBE3F7709BECBF2F13CE8F92EBEE136023FAD3087BE32E0EB3D4BF7843E7E13B93ED2041A3EFA77F03D343DF1BD184D5DBD99E5DDBE88C152BE025C62BD3F86D5BCA68D423ECF59DD3D9A134DBEF8CC533E26D9953D0DE0C1BE3C07D3BE7BE4A8BD0481633E25D2413DFF8DF83D290232BEC5E1093B522A21BE01D8453D77BFD13DA7779DBE4A34BABE379DE0BE1774133CAB11483E2F63073D48A2033D1B327E3C1D0924BE95DD403E946DF23DB3D8873E17CAB13E12F6103D05004FBEC8DD023C2C10793B2F9C34BEA3FF8EBE7BF4CD3D714809BD79978D3C61FB30BE59FAE6BD3C2C9EBCD41A10BE0F6F00BEEA17F9BE92E1463E0B48D03B622A963D05C8AA3CADE90FBE5141823E768DE93DEC7DD03DBEA975BC8CE20A3D85BCF93D102B02BDEE788DBBD501A3BE84CEBC3D40D3A33DCBF9143EFE78ACBE858A443D6F636FBC1CEA28BE622FB9BD3CE1C3BD8D4ACDBDE616193E1CB5263D86C5013E051C043E7BA290BDD79F92BDCF8636BEDD0BB43DAF3464BE7801163ECC6D373E5AFBCF3C11AD44BEBE47AD3D2CC014BD8BC8393EF21510BE3080B13D15BB75BE9406073E6CE68D3D7E63163E3B84E6BD5A8F033EE26386BD205710BE226334BE1AC4CBBDAA65BEBD658EA13ED549153CCA80AB3C5E8FC43DA397FA3DA92ABCBD0AA610BDFE03893E58C4B5BD348BAABD4FAB81BE2F32533E1C76C83DC3DC88BED11C64BE6E87B9BD9503AC3E24F252BE9D7BF83EC91CEF3BE2223CBEA61F69BED410363E461F98BEFAA166BD08B9013ECC2E8BBE0D39A53C517F72BE4A3C3B3ED86330BE77E0DF3DBF3D8C3EEB73F83D519E9FBCFE02FABBBC9431BEDFFF8ABC"> : tensor<6x32xf32>
    %cst_3 = arith.constant dense<[0.200048164, 0.141342908, -0.208523139, 0.279583097, -0.185544744, -0.233097434, 8.175570e-03, 0.182849243, 7.057070e-02, -0.438022554, 0.104747802, -0.165698022, 0.00597814843, 0.137041435, 0.301502258, -0.0352115408, -2.538870e-02, 0.00289665745, 0.152837008, -0.299016893, -0.154501021, -0.419506371, 0.268889189, 0.00576313026, -0.0807775855, 0.215878859, -0.116989277, -0.0127979591, 0.174673095, -0.0898996592, 0.207818016, 0.204101011]> : tensor<32xf32>
    %cst_4 = arith.constant dense<0.000000e+00> : tensor<2x8xf32>
    %0 = tensor.empty() : tensor<2x32xf32>
    %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<2x32xf32>) -> tensor<2x32xf32>
    %2 = linalg.matmul ins(%cst_4, %cst_1 : tensor<2x8xf32>, tensor<8x32xf32>) outs(%1 : tensor<2x32xf32>) -> tensor<2x32xf32>
    %extracted_slice = tensor.extract_slice %arg0[0, 0, 0] [2, 1, 6] [1, 1, 1] : tensor<2x3x6xf32> to tensor<2x1x6xf32>
    %collapsed = tensor.collapse_shape %extracted_slice [[0], [1, 2]] : tensor<2x1x6xf32> into tensor<2x6xf32>
    %3 = tensor.empty() : tensor<2x32xf32>
    %4 = linalg.fill ins(%cst_0 : f32) outs(%3 : tensor<2x32xf32>) -> tensor<2x32xf32>
    %5 = linalg.matmul ins(%collapsed, %cst_2 : tensor<2x6xf32>, tensor<6x32xf32>) outs(%4 : tensor<2x32xf32>) -> tensor<2x32xf32>
    %6 = tensor.empty() : tensor<2x32xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%2, %5 : tensor<2x32xf32>, tensor<2x32xf32>) outs(%6 : tensor<2x32xf32>) {
    ^bb0(%in: f32, %in_21: f32, %out: f32):
      %140 = arith.addf %in, %in_21 : f32
      linalg.yield %140 : f32
    } -> tensor<2x32xf32>
    %8 = tensor.empty() : tensor<2x32xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<32xf32>) outs(%8 : tensor<2x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32xf32>
    %10 = tensor.empty() : tensor<2x32xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%7, %9 : tensor<2x32xf32>, tensor<2x32xf32>) outs(%10 : tensor<2x32xf32>) {
    ^bb0(%in: f32, %in_21: f32, %out: f32):
      %140 = arith.addf %in, %in_21 : f32
      linalg.yield %140 : f32
    } -> tensor<2x32xf32>
    %extracted_slice_5 = tensor.extract_slice %11[0, 0] [2, 8] [1, 1] : tensor<2x32xf32> to tensor<2x8xf32>
    %extracted_slice_6 = tensor.extract_slice %11[0, 8] [2, 8] [1, 1] : tensor<2x32xf32> to tensor<2x8xf32>
    %extracted_slice_7 = tensor.extract_slice %11[0, 16] [2, 8] [1, 1] : tensor<2x32xf32> to tensor<2x8xf32>
    %extracted_slice_8 = tensor.extract_slice %11[0, 24] [2, 8] [1, 1] : tensor<2x32xf32> to tensor<2x8xf32>
    %12 = tensor.empty() : tensor<2x8xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_6 : tensor<2x8xf32>) outs(%12 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.negf %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %14 = tensor.empty() : tensor<2x8xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%13 : tensor<2x8xf32>) outs(%14 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = math.exp %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %16 = tensor.empty() : tensor<2x8xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<2x8xf32>) outs(%16 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.addf %in, %cst : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %18 = tensor.empty() : tensor<2x8xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%17 : tensor<2x8xf32>) outs(%18 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.divf %cst, %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %20 = tensor.empty() : tensor<2x8xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%19 : tensor<2x8xf32>) outs(%20 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.mulf %in, %cst_0 : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %22 = tensor.empty() : tensor<2x8xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_5 : tensor<2x8xf32>) outs(%22 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.negf %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %24 = tensor.empty() : tensor<2x8xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%23 : tensor<2x8xf32>) outs(%24 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = math.exp %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %26 = tensor.empty() : tensor<2x8xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%25 : tensor<2x8xf32>) outs(%26 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.addf %in, %cst : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %28 = tensor.empty() : tensor<2x8xf32>
    %29 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%27 : tensor<2x8xf32>) outs(%28 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.divf %cst, %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %30 = tensor.empty() : tensor<2x8xf32>
    %31 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_7 : tensor<2x8xf32>) outs(%30 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = math.tanh %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %32 = tensor.empty() : tensor<2x8xf32>
    %33 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%29, %31 : tensor<2x8xf32>, tensor<2x8xf32>) outs(%32 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %in_21: f32, %out: f32):
      %140 = arith.mulf %in, %in_21 : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %34 = tensor.empty() : tensor<2x8xf32>
    %35 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%21, %33 : tensor<2x8xf32>, tensor<2x8xf32>) outs(%34 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %in_21: f32, %out: f32):
      %140 = arith.addf %in, %in_21 : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %36 = tensor.empty() : tensor<2x8xf32>
    %37 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_8 : tensor<2x8xf32>) outs(%36 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.negf %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %38 = tensor.empty() : tensor<2x8xf32>
    %39 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%37 : tensor<2x8xf32>) outs(%38 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = math.exp %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %40 = tensor.empty() : tensor<2x8xf32>
    %41 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%39 : tensor<2x8xf32>) outs(%40 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.addf %in, %cst : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %42 = tensor.empty() : tensor<2x8xf32>
    %43 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%41 : tensor<2x8xf32>) outs(%42 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.divf %cst, %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %44 = tensor.empty() : tensor<2x8xf32>
    %45 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%35 : tensor<2x8xf32>) outs(%44 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = math.tanh %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %46 = tensor.empty() : tensor<2x8xf32>
    %47 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%43, %45 : tensor<2x8xf32>, tensor<2x8xf32>) outs(%46 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %in_21: f32, %out: f32):
      %140 = arith.mulf %in, %in_21 : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %48 = tensor.empty() : tensor<2x32xf32>
    %49 = linalg.fill ins(%cst_0 : f32) outs(%48 : tensor<2x32xf32>) -> tensor<2x32xf32>
    %50 = linalg.matmul ins(%47, %cst_1 : tensor<2x8xf32>, tensor<8x32xf32>) outs(%49 : tensor<2x32xf32>) -> tensor<2x32xf32>
    %extracted_slice_9 = tensor.extract_slice %arg0[0, 1, 0] [2, 1, 6] [1, 1, 1] : tensor<2x3x6xf32> to tensor<2x1x6xf32>
    %collapsed_10 = tensor.collapse_shape %extracted_slice_9 [[0], [1, 2]] : tensor<2x1x6xf32> into tensor<2x6xf32>
    %51 = tensor.empty() : tensor<2x32xf32>
    %52 = linalg.fill ins(%cst_0 : f32) outs(%51 : tensor<2x32xf32>) -> tensor<2x32xf32>
    %53 = linalg.matmul ins(%collapsed_10, %cst_2 : tensor<2x6xf32>, tensor<6x32xf32>) outs(%52 : tensor<2x32xf32>) -> tensor<2x32xf32>
    %54 = tensor.empty() : tensor<2x32xf32>
    %55 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%50, %53 : tensor<2x32xf32>, tensor<2x32xf32>) outs(%54 : tensor<2x32xf32>) {
    ^bb0(%in: f32, %in_21: f32, %out: f32):
      %140 = arith.addf %in, %in_21 : f32
      linalg.yield %140 : f32
    } -> tensor<2x32xf32>
    %56 = tensor.empty() : tensor<2x32xf32>
    %57 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%55, %9 : tensor<2x32xf32>, tensor<2x32xf32>) outs(%56 : tensor<2x32xf32>) {
    ^bb0(%in: f32, %in_21: f32, %out: f32):
      %140 = arith.addf %in, %in_21 : f32
      linalg.yield %140 : f32
    } -> tensor<2x32xf32>
    %extracted_slice_11 = tensor.extract_slice %57[0, 0] [2, 8] [1, 1] : tensor<2x32xf32> to tensor<2x8xf32>
    %extracted_slice_12 = tensor.extract_slice %57[0, 8] [2, 8] [1, 1] : tensor<2x32xf32> to tensor<2x8xf32>
    %extracted_slice_13 = tensor.extract_slice %57[0, 16] [2, 8] [1, 1] : tensor<2x32xf32> to tensor<2x8xf32>
    %extracted_slice_14 = tensor.extract_slice %57[0, 24] [2, 8] [1, 1] : tensor<2x32xf32> to tensor<2x8xf32>
    %58 = tensor.empty() : tensor<2x8xf32>
    %59 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_12 : tensor<2x8xf32>) outs(%58 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.negf %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %60 = tensor.empty() : tensor<2x8xf32>
    %61 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%59 : tensor<2x8xf32>) outs(%60 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = math.exp %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %62 = tensor.empty() : tensor<2x8xf32>
    %63 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%61 : tensor<2x8xf32>) outs(%62 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.addf %in, %cst : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %64 = tensor.empty() : tensor<2x8xf32>
    %65 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%63 : tensor<2x8xf32>) outs(%64 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.divf %cst, %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %66 = tensor.empty() : tensor<2x8xf32>
    %67 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%65, %35 : tensor<2x8xf32>, tensor<2x8xf32>) outs(%66 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %in_21: f32, %out: f32):
      %140 = arith.mulf %in, %in_21 : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %68 = tensor.empty() : tensor<2x8xf32>
    %69 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_11 : tensor<2x8xf32>) outs(%68 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.negf %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %70 = tensor.empty() : tensor<2x8xf32>
    %71 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%69 : tensor<2x8xf32>) outs(%70 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = math.exp %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %72 = tensor.empty() : tensor<2x8xf32>
    %73 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%71 : tensor<2x8xf32>) outs(%72 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.addf %in, %cst : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %74 = tensor.empty() : tensor<2x8xf32>
    %75 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%73 : tensor<2x8xf32>) outs(%74 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.divf %cst, %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %76 = tensor.empty() : tensor<2x8xf32>
    %77 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_13 : tensor<2x8xf32>) outs(%76 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = math.tanh %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %78 = tensor.empty() : tensor<2x8xf32>
    %79 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%75, %77 : tensor<2x8xf32>, tensor<2x8xf32>) outs(%78 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %in_21: f32, %out: f32):
      %140 = arith.mulf %in, %in_21 : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %80 = tensor.empty() : tensor<2x8xf32>
    %81 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%67, %79 : tensor<2x8xf32>, tensor<2x8xf32>) outs(%80 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %in_21: f32, %out: f32):
      %140 = arith.addf %in, %in_21 : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %82 = tensor.empty() : tensor<2x8xf32>
    %83 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_14 : tensor<2x8xf32>) outs(%82 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.negf %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %84 = tensor.empty() : tensor<2x8xf32>
    %85 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%83 : tensor<2x8xf32>) outs(%84 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = math.exp %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %86 = tensor.empty() : tensor<2x8xf32>
    %87 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%85 : tensor<2x8xf32>) outs(%86 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.addf %in, %cst : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %88 = tensor.empty() : tensor<2x8xf32>
    %89 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%87 : tensor<2x8xf32>) outs(%88 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.divf %cst, %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %90 = tensor.empty() : tensor<2x8xf32>
    %91 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%81 : tensor<2x8xf32>) outs(%90 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = math.tanh %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %92 = tensor.empty() : tensor<2x8xf32>
    %93 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%89, %91 : tensor<2x8xf32>, tensor<2x8xf32>) outs(%92 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %in_21: f32, %out: f32):
      %140 = arith.mulf %in, %in_21 : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %94 = tensor.empty() : tensor<2x32xf32>
    %95 = linalg.fill ins(%cst_0 : f32) outs(%94 : tensor<2x32xf32>) -> tensor<2x32xf32>
    %96 = linalg.matmul ins(%93, %cst_1 : tensor<2x8xf32>, tensor<8x32xf32>) outs(%95 : tensor<2x32xf32>) -> tensor<2x32xf32>
    %extracted_slice_15 = tensor.extract_slice %arg0[0, 2, 0] [2, 1, 6] [1, 1, 1] : tensor<2x3x6xf32> to tensor<2x1x6xf32>
    %collapsed_16 = tensor.collapse_shape %extracted_slice_15 [[0], [1, 2]] : tensor<2x1x6xf32> into tensor<2x6xf32>
    %97 = tensor.empty() : tensor<2x32xf32>
    %98 = linalg.fill ins(%cst_0 : f32) outs(%97 : tensor<2x32xf32>) -> tensor<2x32xf32>
    %99 = linalg.matmul ins(%collapsed_16, %cst_2 : tensor<2x6xf32>, tensor<6x32xf32>) outs(%98 : tensor<2x32xf32>) -> tensor<2x32xf32>
    %100 = tensor.empty() : tensor<2x32xf32>
    %101 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%96, %99 : tensor<2x32xf32>, tensor<2x32xf32>) outs(%100 : tensor<2x32xf32>) {
    ^bb0(%in: f32, %in_21: f32, %out: f32):
      %140 = arith.addf %in, %in_21 : f32
      linalg.yield %140 : f32
    } -> tensor<2x32xf32>
    %102 = tensor.empty() : tensor<2x32xf32>
    %103 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%101, %9 : tensor<2x32xf32>, tensor<2x32xf32>) outs(%102 : tensor<2x32xf32>) {
    ^bb0(%in: f32, %in_21: f32, %out: f32):
      %140 = arith.addf %in, %in_21 : f32
      linalg.yield %140 : f32
    } -> tensor<2x32xf32>
    %extracted_slice_17 = tensor.extract_slice %103[0, 0] [2, 8] [1, 1] : tensor<2x32xf32> to tensor<2x8xf32>
    %extracted_slice_18 = tensor.extract_slice %103[0, 8] [2, 8] [1, 1] : tensor<2x32xf32> to tensor<2x8xf32>
    %extracted_slice_19 = tensor.extract_slice %103[0, 16] [2, 8] [1, 1] : tensor<2x32xf32> to tensor<2x8xf32>
    %extracted_slice_20 = tensor.extract_slice %103[0, 24] [2, 8] [1, 1] : tensor<2x32xf32> to tensor<2x8xf32>
    %104 = tensor.empty() : tensor<2x8xf32>
    %105 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_18 : tensor<2x8xf32>) outs(%104 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.negf %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %106 = tensor.empty() : tensor<2x8xf32>
    %107 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%105 : tensor<2x8xf32>) outs(%106 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = math.exp %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %108 = tensor.empty() : tensor<2x8xf32>
    %109 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%107 : tensor<2x8xf32>) outs(%108 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.addf %in, %cst : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %110 = tensor.empty() : tensor<2x8xf32>
    %111 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%109 : tensor<2x8xf32>) outs(%110 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.divf %cst, %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %112 = tensor.empty() : tensor<2x8xf32>
    %113 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%111, %81 : tensor<2x8xf32>, tensor<2x8xf32>) outs(%112 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %in_21: f32, %out: f32):
      %140 = arith.mulf %in, %in_21 : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %114 = tensor.empty() : tensor<2x8xf32>
    %115 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_17 : tensor<2x8xf32>) outs(%114 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.negf %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %116 = tensor.empty() : tensor<2x8xf32>
    %117 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%115 : tensor<2x8xf32>) outs(%116 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = math.exp %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %118 = tensor.empty() : tensor<2x8xf32>
    %119 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%117 : tensor<2x8xf32>) outs(%118 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.addf %in, %cst : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %120 = tensor.empty() : tensor<2x8xf32>
    %121 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%119 : tensor<2x8xf32>) outs(%120 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.divf %cst, %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %122 = tensor.empty() : tensor<2x8xf32>
    %123 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_19 : tensor<2x8xf32>) outs(%122 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = math.tanh %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %124 = tensor.empty() : tensor<2x8xf32>
    %125 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%121, %123 : tensor<2x8xf32>, tensor<2x8xf32>) outs(%124 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %in_21: f32, %out: f32):
      %140 = arith.mulf %in, %in_21 : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %126 = tensor.empty() : tensor<2x8xf32>
    %127 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%113, %125 : tensor<2x8xf32>, tensor<2x8xf32>) outs(%126 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %in_21: f32, %out: f32):
      %140 = arith.addf %in, %in_21 : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %128 = tensor.empty() : tensor<2x8xf32>
    %129 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_20 : tensor<2x8xf32>) outs(%128 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.negf %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %130 = tensor.empty() : tensor<2x8xf32>
    %131 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%129 : tensor<2x8xf32>) outs(%130 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = math.exp %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %132 = tensor.empty() : tensor<2x8xf32>
    %133 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%131 : tensor<2x8xf32>) outs(%132 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.addf %in, %cst : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %134 = tensor.empty() : tensor<2x8xf32>
    %135 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%133 : tensor<2x8xf32>) outs(%134 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.divf %cst, %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %136 = tensor.empty() : tensor<2x8xf32>
    %137 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%127 : tensor<2x8xf32>) outs(%136 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = math.tanh %in : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    %138 = tensor.empty() : tensor<2x8xf32>
    %139 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%135, %137 : tensor<2x8xf32>, tensor<2x8xf32>) outs(%138 : tensor<2x8xf32>) {
    ^bb0(%in: f32, %in_21: f32, %out: f32):
      %140 = arith.mulf %in, %in_21 : f32
      linalg.yield %140 : f32
    } -> tensor<2x8xf32>
    return %139 : tensor<2x8xf32>
  }
}

