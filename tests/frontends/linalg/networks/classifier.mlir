#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d0)>
module @jit_network {
  func.func public @main(%arg0: tensor<6x10xf32>) -> tensor<6xi32> {
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant dense<"0xF623D73E540714BEC28D12BE9A0A3BBE50435BBB4008CEBC3A7C31BD07326BBE392D853EABC997BE9536DCBD37E9233E7678003EDE9429BDABEF423E2F3A87BDD1F5CA3E18B6563E185619BE2BB72F3EA95D33BD18C39D3D17977A3E120629BE63EC8F3E896C5ABD8E13603EF661B53D7CC7E1BD96258BBE8DB67ABE1C8A733DA1AC5EBEBE91CABD0DD949BDD54E03BE9618B7BD66B2F83D292A653EB935BF3D6225043EC1E0DA3D31ADB3BDE7E7173D561BADBE94D8843C4628AFBDF9727D3E4A41BEBEC1235BBE5665E93E6284163E3C998D3E428621BEADDE94BED99AC53DA346033D5AF2DE3DC0609E3E41F62E3E70749EBE7AF8D0BD6CF2E1BEFD0DE03DCF90BEBD162182BE113F933D516462BED97D4E3E85DC123EC6D3E43E74281ABE167C433ECFB9B8BD418D76BEB948BE3E5F6059BEBE06A93EC89291BD9D61143E37E4AEBD0F581EBECD6238BED4F1AABDD095493DD7818F3E598A22BE09B3BA3BEEAB5CBD01208ABCD38551BEB45D8DBE3C0BC0BD7D62D3BB8045F63E956F993EFEE2A5BD549984BE9410AFBED62F413EE38C763E90A9D43E4F2357BD3B809F3D5D5F8CBDCEE5913EA12C3E3EC49E1EBE40880A3D20A54CBE8038B63C79F290BE62CA203DAE41743EE76E813E49C77DBE8161273CA0B988BE96985F3EEDC2A63D5B6A68BE00143BBE6712E53DBBF1ADBE386D613CE43A943D972A07BEF07C59BDBC19943CA9ADEC3D1EBD7FBEAE1EE6BD3207243EBCAF05BFB9CA483EACF4883E243EC23E30A3F1BE9F10BCBDDB9A04BE189C943EBAAC083EB1CB513E428C163E9C0D9CBE8C0DAC3D6802DFBE7700B53D13D8243D2DCB13BD8E66433DB868123E8E1320BE2DDB923D071C953EF517A23D6DFB3C3D2D313EBBDEE584BEE747923E"> : tensor<10x16xf32>
    %cst_2 = arith.constant dense<[-0.0824763924, 0.00804842077, -0.0596583337, -0.0711192861, -0.117962107, -0.140853658, 0.186464712, 0.273158073, 0.0484238528, -0.231037572, -0.0132361529, 0.44411087, 0.0624716878, -0.0391762368, -0.163827032, 0.106037252]> : tensor<16xf32>
    %cst_3 = arith.constant dense<"0x1D0344BD427D833E5F8F5E3E8897D23D94A7763C4CABDC3D0D4A813DC17F3FBD612D883EA7E297BC8809DBBDECCAABBE4C0430BD0A0D9DBE8A341C3ECE1525BED3703BBE9BDFE7BED235623D462678BDEF590F3E3A0E3EBE737C513EEB42173EAAE4A73E2A52BABD0843673E6F1C27BEC7D7AC3C4B3841BDC24D8E3E76E7B23D61BFC83E79E5A33D8B25133D105255BC8D48613D689C12BEFC1F5ABEF02DD9BD35A392BDBF97D0BD400EE03ED2FF0EBD77936DBD6B6E813EBDD2393ED6F013BECD56303E2CFB503E6BEE28BED18DD6BC247A133E20E23A3E4FBD16BE60D4763E6D06E33DD1C739BE930440BD849DBC3EA967A33DE810C1BEA53D7DBE45499B3EC5BF20BC36460E3DEE1E6EBE62179E3EE01AB6BCFECAF5BD5F9FC4BC884D1A3FF36BD53B1E569A3D6B7A92BE806900BEE363BEBE3C5D443E33070BBE40EEB6BD4F8CD03CF9A6953D8033D33E222BA73B9EBA583ED9CD11BE5C254BBED2C311BE18D53ABCFCB9543D1396583EDAE73C3E4469E6BDDD26733D7D7C5D3EBBBC88BEA8F609BEC61D82BE325CF93D5C8A95BB854132BE59D8D03DFCE691BDD2204A3E8B0B20BD4B7D873D5C348EBE319BB93DD5139BBDC83CADBE2775B9BE416347BE"> : tensor<16x7xf32>
    %0 = tensor.empty() : tensor<6x16xf32>
    %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<6x16xf32>) -> tensor<6x16xf32>
    %2 = linalg.matmul ins(%arg0, %cst_1 : tensor<6x10xf32>, tensor<10x16xf32>) outs(%1 : tensor<6x16xf32>) -> tensor<6x16xf32>
    %3 = tensor.empty() : tensor<6x16xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<16xf32>) outs(%3 : tensor<6x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<6x16xf32>
    %5 = tensor.empty() : tensor<6x16xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%2, %4 : tensor<6x16xf32>, tensor<6x16xf32>) outs(%5 : tensor<6x16xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %19 = arith.addf %in, %in_4 : f32
      linalg.yield %19 : f32
    } -> tensor<6x16xf32>
    %7 = tensor.empty() : tensor<6x16xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<6x16xf32>) outs(%7 : tensor<6x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = math.tanh %in : f32
      linalg.yield %19 : f32
    } -> tensor<6x16xf32>
    %9 = tensor.empty() : tensor<6x7xf32>
    %10 = linalg.fill ins(%cst_0 : f32) outs(%9 : tensor<6x7xf32>) -> tensor<6x7xf32>
    %11 = linalg.matmul ins(%8, %cst_3 : tensor<6x16xf32>, tensor<16x7xf32>) outs(%10 : tensor<6x7xf32>) -> tensor<6x7xf32>
    %12 = tensor.empty() : tensor<6x7xi32>
    %13 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel", "parallel"]} outs(%12 : tensor<6x7xi32>) {
    ^bb0(%out: i32):
      %19 = linalg.index 1 : index
      %20 = arith.index_cast %19 : index to i32
      linalg.yield %20 : i32
    } -> tensor<6x7xi32>
    %14 = tensor.empty() : tensor<6xf32>
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<6xf32>) -> tensor<6xf32>
    %16 = tensor.empty() : tensor<6xi32>
    %17 = linalg.fill ins(%c0_i32 : i32) outs(%16 : tensor<6xi32>) -> tensor<6xi32>
    %18:2 = linalg.generic {indexing_maps = [#map1, #map1, #map2, #map2], iterator_types = ["parallel", "reduction"]} ins(%11, %13 : tensor<6x7xf32>, tensor<6x7xi32>) outs(%15, %17 : tensor<6xf32>, tensor<6xi32>) {
    ^bb0(%in: f32, %in_4: i32, %out: f32, %out_5: i32):
      %19 = arith.cmpf ogt, %out, %in : f32
      %20 = arith.cmpf une, %out, %out : f32
      %21 = arith.ori %19, %20 : i1
      %22 = arith.cmpf oeq, %out, %in : f32
      %23 = arith.cmpi slt, %out_5, %in_4 : i32
      %24 = arith.andi %22, %23 : i1
      %25 = arith.ori %21, %24 : i1
      %26 = arith.select %21, %out, %in : f32
      %27 = arith.select %25, %out_5, %in_4 : i32
      linalg.yield %26, %27 : f32, i32
    } -> (tensor<6xf32>, tensor<6xi32>)
    return %18#1 : tensor<6xi32>
  }
}

