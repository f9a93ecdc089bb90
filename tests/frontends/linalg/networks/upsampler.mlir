#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<() -> ()>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1) -> (d1)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1) -> (d0)>
#map6 = affine_map<(d0, d1) -> ()>
#map7 = affine_map<(d0, d1) -> (d1, d0)>
#map8 = affine_map<(d0, d1) -> (0, d1)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d1, d0, d3, d2)>
module @jit_network {
  func.func public @main(%arg0: tensor<1x12x12x3xf32>) -> tensor<1x12x12x3xf32> {
    %cst = arith.constant 5.500000e+00 : f32
    %cst_0 = arith.constant -5.000000e-01 : f32
    %cst_1 = arith.constant 1.1920929E-4 : f32
    %cst_2 = arith.constant 1.000000e+00 : f32
    %cst_3 = arith.constant 5.000000e-01 : f32
    %cst_4 = arith.constant 0.00999999977 : f32
    %cst_5 = arith.constant 0.000000e+00 : f32
    %cst_6 = arith.constant dense<"0xB151E7BD24B7053E544239BEC8D04BBDEFA0A1BE995069BD75E0D9BE019C5EBB92D4D13EB2B289BC3151D4BDFAFE633EF18E12BE305C813EB6CE5A3C44A679BDD14D813EBE7D20BE0F45AE3D583B0CBEAA0235BE6CA9A33EE91CF3BCE40591BD3ECBD33E9A820A3E2690D13E8DE57B3E9D5D373E4D6B26BE2BC4883E3A8AFDBDA3183D3ECCD51A3D4F76843E34C4483E2E5656BE7EE2443E9FDEABBDFAC0013EFC48653D283D29BD5F11B8BC478FF03DF2BB333E6049563EED3159BE7B57233DFAE53E3ED158093F40E26DBDCBD5A3BC747B9C3E067CD2BDBD1BA7BDB94C9E3EAA392C3E86E5183E79B16C3C93226BBE1E23373C17DE98BC7C0CB3BEF5630DBD60C2DFBC3237E23D84D362BDDE7B193E3A89B5BD8476963E85B5F43E16CB25BE7B347C3E2D5A2D3EA8FA4C3EB17913BD7986F73C2B4AA73D3171393DFA84993E1A65EC3E6671D4BDA91777BE53923FBEB37C973E6F4FCB3D7A92C73CB1E893BE45325BBD543276BD2995B03E6034493C6E6A673E0DD2A8BDEC0E1F3E64591EBD4EA51C3E50FC493E34768EBE1099883E3312C13EA96CAB3E2458283D4A16503E6973803D59A060BDC20025BE9EE504BE"> : tensor<3x3x3x4xf32>
    %cst_7 = arith.constant dense<"0xEBA9483DA0C5B43B062E633EBB9BF5BD265B313E09F6A5BE49189FBDA39E4FBDBEDA2A3E4A04B63E7C286CBE55D73FBE15DE9DBDC3962BBF3AB5533E508D21BC7770BE3E2F5546BEC93FF8BC0BB4A0BE9E42F3BED3B015BED25A803EE49180BE0BD1E73EE527233E14DAA3BDF62FD2BD61A8753E9E5AE9BDFBF269BD3B90AF3E9B3D553E659AB23C06012ABCD5B6A53E4E6A4D3EA155703EEDEE94BEE930093E77B4413EDE05B43DD624EF3D13F48EBE23AFE9BB55C506BFDD0C213EB886C8BD517E243D366E4F3EA1154D3E4FD29ABCB21F1A3E13FA26BEE07C423E3128153EA774EDBBB2715EBE964AD0BD8F8B753CED7FB2BB85921EBE894D9BBBF6D2013E77503DBE365C4FBE4A364ABEE3A0183C4079243ED6DA823E9B5B8C3D6871BBBD47A975BE7CAADF3DEE2D243DF3465CBD7A6BA53E9B4520BE5683FC3D0B1162BE0384983DE3B6DB3D94746FBED912F73EC3DF7F3E1698A3BEFAC0383D00C1FB3D6EE7573E2504BABDE0EA1BBEB8C613BE6967FCBD44B930BD7716BEBD0575773DE5913CBE4AD242BDE39F343D00501C3EA4CF353E08547C3EF50FD237B45531BD77E167BCE62C56BE80F52EBE78A2AABE90F555BEB5A4203C397EA33E2B61343E584FA53CFAEC1DBEE8E9593E5F7AD83DEEB81DBDDA3A3C3ED6BE65BEC30B1F3D83EE1C3E200FA8BE610F66BDA61F3BBD4DD1A5BE10DD363CBF374FBDBD8A1EBEDB891EBE5D08803E812455BE3C4B713E4F291CBD3BE9E43D94AFD4BD09964F3ED11801BEA148393EF6076B3E01CB48BE9EA10F3E2A3609BE581C643EFEE3163EDFBDE8BDBC83D83CBB7F643DD5D584BE8ECCBE3E0F2461BCFDF8283E52C9853EF27256BE3BB57BBEDBB370BE984B1A3E28C71DBDCD8C4F3E3F57443EBCC4BDBB8902A03E61A0993D947421BE5939303E2689A6BDBBE0F13DB9C8EABDF477433EF82351394E1D22BC0F45B5BD99B4C83ED9B186BB77F2A53EFC5F15BFF814D63C5A4308BDB4ABAF3D6062423E3BEE52BE8F44F43E1BFE5E3E54FB933DF980193C80137D3DFA2A35BEBDA25DBDB1DD83BDA5F3D7BDD4C2273EFF6E82BD38A4C53D18895C3E7BFC1F3E41178E3EFA83DFBC0DC0CA3DBBBA00BE85D34ABE5A947E3D57487B3D971B38BD5ED9063E0F08F9BD44E288BEA3EA74BE239222BA8A10DE3D3793743E9631C03D446EDCBDAFFF1FBE09FFC1BE38521FBD096CA13EED2101BD1684113ECC3BE43D648D203EE3A3683EF97C883E3369B73B4B59CBBEF8685D3E623C843DBA1E6D3DC79F8B3DB20D9EBD156F8CBEC6E7C0BDF9C3883ECCB4963C6972503D71AEA9BBF16D5F3E4C401ABE9B87A83DEE8984BDDF425F3E3CB22EBE8DB7C73E78760E3E6009953EFC371B3E0FB477BE0ABDB33D5E8A163E891F3A3E95D9F03C0A9A923E08FED3BD09CD5BBB9DC9493EDB09C6BDD2D982BE76B2ED3E46AA143E43DA89BE02BA153E0A5F9B3C20D60BBDFA0755BDF950483DE6F04A3E1705E2BCD59F803D1E91143E2665163E6EDD11BE0C2435BE5B7C6DBD1A2942BECF07A6BEC9AC983D7BEE633EF4806F3D85F338BE039A11BF2F00873C16B3B03C34D59EBE8397973E4540323EDA01553DC6038C3E7FECCABD2EBFF63D6BE381BB"> : tensor<3x3x4x8xf32>
    %cst_8 = arith.constant dense<"0xEE7A033D1249093FC39D2A3E18A58CBEE0E28BBDE7CA433EAC2497BE92124FBE7C493BBE73E854BD7C5D623ECE171D3EDB05513D65C2B73D74F5833E1B1B8EBEE096803C5AAEAB3DC0403BBDBF14E9BD569F7D3E656F4B3B3573793E6F07723E446F09BE162AD4BB087D8ABDBD5803BD6F78C6BDB4FF80BE77DEE1BE81029EBE125A79BD2934183E3BAE6CBE63BECCBCDEF1843D840D88BDBA819ABE742AE9BDFCDB8F3DC19184BB0FDD923EC440D43E8CB5B43E717EE9BC0305CA3EEC6054BECE46A33D5E98E73D8FE9D6BCF2602BBD553F81BC292A203E3F3D493D9711A43DBCB1623E2C18AABEE0E4293B8CC7A4BC6D51B5BE9FCF45BD19777FBDE91147BEC006E8BCFDF235BE283BFDBD6A710A3E85433DBE5F588DBE4F4F103E6B9A323E058BADBCE6CB4CBE1E12D0BE78E025BECD53473E61279DBC61FF903EB6B10BBE45EB58BE7CBFC7BE1A2AF4BE6A010FBF19D5BFBE603F923E9A670F3E5C9DF5BCD95D0BBC9AC3543EC8DD3A3E8B803CBEE9ADBDBD964455BEB486ADBD5F70603E07388FBC31BEB6BD0FE956BEE7ACA6BEDE18953E5AA036BEF6B5DEBD4EB45A3EAE51A03E75F0B0BD2CB85F3EE5C1033F14CBAD3EB0FFBFBD3E90663E75D815BEAE6CFEBC8BA08D3DB76F20BE412892BE5600D6BD7022503E607C103ECDB2C03DB9DF2EBDEE8F9C3D5C8B9CBC8FB544BD516146BE16EC3DBE12510BBEB09F1C3E6D09003EF0F7453E738516BFBFD3963BC9E4FBBDD29518BF1CE216BE02B9C73D079AF3BCC0A369BDF1E6F7BC15D2863D0A03D6BD917BCFBD3F103ABE8444833E7059BB3D3F1476BEB60689BE3C26073E1BBE103DD9828ABEB50CACBEC683BDBE58DD693E152C713E12BF343E0568FBBD24BC2ABE905F18BE1CD500BF1931433E50293D3EA1F0EEBD507F3EBE6AFB1E3E31D2D1BD8B9E883D62018DBE6DF8B23E685FDABD020206BF0167103E496B843E7C50D3BD6AFBC43EB71B9D3E028EFF3DC2C747BC9198483EA280D53C2A5D203E858489BD18DBFDBC8071D03B4723553E994698BD4C7735BE493C833E7B0D18BEB126AF3E618310BD65AC02BEB66A24BECCEE853DDAC702BC90490BBE2D48533EB697283D0146403DD6AE203E90D5783E2E455E3E7B282BBB926B0B3D6D42A33E6CCE90BE290D5F3EFCE84E3E7D69FABD57DCA4BE54808C3D17CF7BBDA3D8EB3DC5CFCEBEFE594C3E327BA93E53B53ABE7B764BBE477AB33EADFC193ECECA023D55E0583E62A583BDD0E4F2BDCC5FA33EA19094BDC19CEB3DC0A2F3BDADC4C7BE8C60383E96AC4E3ECFB132BEA21CE63E591DB53E423BF7BD8E7B02BD5627033EF431A73D801020BECFA3323D0E3B7C3DA05EF5BE7CE6493B4F2D153DBFBB40BE25AB46BDC89B233E07DE1CBE7DB7B7BEA6829FBE2F6909BDA07B863EF5099E3E997D9ABE2B060EBE62470DBD8231E13D6879E5BD420CAC3DB9F26DBECC1791BEC6CE43BE66DC233DAA261B3D863406BE999224BE9057EB3D2B5905BEB50C1BBEDF1D3D3EA604B8BDE0DEB3BE7DC4BE3D245E8B3E19C615BDAFEBDD3D10D65A3DBC5AB13E574EB8BE91CCC0BD8A2A163ED881463D2712343E428E31BCD772B83DF685AD3DBE1F193E5850F63D8E096A3DC295E53DC68E5A3E8F1077BD443D2FBE51AA7F3E27762EBE596DD23DB7D9E43ECBF4C93D39DFEA3D145FE93EAFCFC2BDBC18363D442D5B3E2E24173E7BD0803D2BE0DEBE768FB1BD8B95B03DCC0E7A3D939C96BD7924A63DAD3DD0BDD298D63E7AA8773D462DE1BD426D22BE06C3BF3D3B5D053ED892B53D423B323EFF0C03BF632B0C3D9C9B6D3ED74D7E3E52F4493D421F04BEA38FF6BD8B95923ED02A90BD7B1FA8BDD7FD05BF6E0A87BEC8C6F1BD6E8B86BDB0E1173D9E1F873D29981E3E72F3773D13EE61BC8BC4E7BB74DF733E7AFCE23D3147ADBEB3C883BC74009D3D8FE0E13DC423A2BE5C1D11BD4B01DA3D133710BEF0AAB2BD4E6ADEBD99C9233E21C84FBE37AC3ABEA12E7ABE05C7D93E4D610A3EAA4E563C6CEE913D43C7FC3ECB05433D52ACB33E91D814BE968B6EBEDE5687BDCFD15F3D0533FC3D691182BC45916F3E30C9713EE0DAC63EF5AC8FBDFA656DBE16319A3D5B4DA1BDFE2C743DBEE11DBED599063E11894C3E6424223E7C0C303E93DD023EB4CDE3BB7231B6BE3DA615BE8D94723D8039353E0C29B0BED1FFBB3EBA64A93C20456D3EBF721BBEDDBE893E342D2DBE5481D43E5CBDD6BDF8D1973E3F7CDABCEADB053ECE41593E3B19123E78CE523D4922D5BDEF491A3EA381083E8B2933BEE2C7ABBCFB7481BE934C0F3DE6EDC3BDB6F84CBE38D773BECA2F3F3E1DF516BE84B18F3DF736EABE551D033E5F14EABD8A4E853E399A15BEC8A8793E0FCBF7BC3ECB12BE6593333E7C731A3E9A3EE0BD96319E3D002C60BE539A0DBEE7B44A3C31E6913EC027D5BE737CA4BE6732BCBE72AED5BE8892293EE15103BEA05E38BE55D0BE3D3B44E53DBC1A023E8D68AC3ED5AA19BE5D4571BD329F00BE14CA5A3E5F1C42BD880ECEBDE4A73B3D6F88AB3CB3E92B3E24093D3EC3CA09BDF30F82BD555707BECD3486BD3C96E73E8BC80A3D631903BE4B407C3E65593BBD5F2E03BF113B8FBDFF2726BDC7BF833EBE98983E2C0D123E39838A3E1030D7BD03BD1FBE236ECCBC993DD83B3175463D563CDBBC36D4343D2718C03D3BCAE6BD2A85103EE7AB04BDDC958DBD6A3A36BC0BE68B3E98E34A3E07B50E3E6A50043C70A4AEBE6829873D96783DBEF49DDFBCEE52ADBC4A271CBD09436FBDC8CEDDBD2263583E99D71C3D84BEDA3CF21EC43D0EE6AB3DDF7F5BBC0C0807BE906AD33DACE60A3E7C2E5ABD5BA17E3EB45D46BE521A0B3E3A5C04BFC4B0943D854D0A3EF3755ABEF7DD30BE9B24D9BD864E75BEBEC6113E7F14B73E417B0DBE359CD23DCB761FBEA65A10BF11B008BE3DB72E3DB77F1FBE9162F0BC84251A3ED6FF5EBED2E8D63D81B418BD7ACA6F3C16717D3EFF8F033D6EE74CBED65D283D896E913B2AA08EBA86AE15BE4421DE3DD520BC3EF327E0BE6298413E2DB2AB3E2953463E60BBDC3D286430BE8DB59DBD34EC3A3E933B6EBE9018473D23543D3EAE32913C0A867D3C498773BD61EE01BE4F28C73E984B7E3E22E13C3E19F81CBDD7A964BC156C523E0CBC263E5A704EBE7119183C3CE8B8BC115D8FBE6DE4B13CF64E4B3D0097BFBD7CDA18BE641FBC3E837D5ABDBDD5F4BB7D0DB8BDA9BC34BE7AE53E3EBF92173E02651BBEA1B2EABC"> : tensor<3x3x8x8xf32>
    %cst_9 = arith.constant dense<"0xB40105BE560EF5BDAD510F3E635304BE54DCA8BDBE444B3D601540BD41DF8A3DF8B1213EA707923D5E67A43EB8731DBA8931913D4CE47C3EA6E29DBE28BA5CBE77075CBDA029A93D9EBA283E022C4EBE24714A3DEFA69CBD9F3559BEC74B86BD4249593BEC9349BE0E95EF3D192BF6BE9322B83CEFC5323E630C313D1F61E0BDE97991BE531FCCBDDF6DB8BDFFA9A8BEBE89653D65770D3E5AF2F7BD473CC53C43542A3E2A82793E112163BE97C8433EA64D6D3D25F7C63CB6CEDA3E8EE37ABC3624E2BE1E4F223E213E44BD81D228BC661952BE307AE73CFCD7943E79EA593EFBE114BC9275FEBC8124643E4715303E3EBEA33E533526BDC6B19A3D15D8023D1BF4263D8AA0D7BC6E3CE33D67CD873ED3D6A5BD90804F3E1058F8BD0CF6983E6661D53D11E82ABE176DC1BEADE581BD177C823E8CF160BE32B7133D0BE78ABD030400BC641AB33DC05674BDA2931F3EE758DB3DF071F3BD20CEA63EF82D623C6EE246BECAAF993ED6BE9D3E9987FD3DD1AAED3EC48A1DBEB8E14E3E3CB781BE47D3A43EDD05093E9012483E91E72DBE2475F7BB57256D3C2A4487BC3B55983C89DD373E1C84A73EB10B923E50B92B3E155B55BE365092BC42AE97BE2F85BA3DD8D3B73E8EE1163E697CF33DB5F8313D7F14C5BD80BCD53E9413863E646A99BD9C827BBDDE33E5BDD34B473E13272DBDEA19B3BD1DA2DC3ED1CB6ABDBABE7C3E61A355BEC0753ABD588807BDAEF45B3E2DC595BDBBE78C3E4CC2AABDCBEF29BDE11E543E372C55BEC0933E3CB2FFAEBDF291623C5884053E3BD2813D1F7D7E3EA277303EBA15D2BDD2698D3D305D46BDC9CE52BE3FDBACBD7B04DD3D858AC5BEB2F0AC3D761B7F3E9F2D9B3D8B6647BE00378B3ED32B753DDB2B8E3E7922CFBD4DFC963EE0EF1DBE3594753EE63C96BE61DD0D3E6D8E1D3EF1B5EBBDE69F493E596211BDCF4DC3BD392EB83C60273A3D2CFFD43E880BC43E9695803E19FF0EBE01076BBDEC128FBEDD487CBE22040C3E71401C3D833AD8BEBEEB493EECCE153ED6DE4D3ECEA49E3DC698A8BEE9C7393E7341F73DC06E643EC3525F3D393D2EBE1BF0143E5A03F13D82D0C63D6E3DCBBC9F4042BD71CFC4BECC1D63BE4C6920BB72AFF8BEFBB09CBEA0C82BBDF02D213E8280583EC08CA03D9D82003E2AC0913EABD2FA3EB8FE943D5D6FCDBD08FB203D0F6383BE489102BDC1AB3A3ED5CC763EF84E423E22CD583D2E187C3E47C9923E734E053ED8D8E6BD4925ABBD9881E33C3D0B0BBE797D163E0106F33EB211BDBDFAAEEC3EBA573DBE68E31D3DC290063C19B6323D123AD53D4D1A39BE3ADE27BD3B13F33E8AA74BBEC6671F3E6928FE3C25A53D3E3049883DB5F765BEB2DF1FBEEC7B553EDDD2873E17D7523E8B1FEBBBD0E1843D874F0D3E9D5234BE19213F3ED7C39CBE0DCE9C3EF7A47DBDE496393E646B133E25B593BEB6F58C3CE23200BE99A88D3D961A85BE3F32493E591B5F3E15A950BD602E113F9F4A71BED3B4F2BDD84C183CD70A17BD6CFAFEBDACAD743E93F0003DEB7A0ABE001CADBD4CD104BF59B3BA3E2EB046BE5D56F63CF5BB543D8463AEBD99EA02BEE4AA6ABE8F3CEFBE5757373E299FC93DCDBC13BEE915133D7C6A87BD2FFDBDBD35FE3ABD1071643EC87A633D56B05EBE92D0293E672D16BE8328013ED2EFF73D22231FBF91EB593D0CF413BE7DE709BDE8E8C23EB6B6C93D85DAC0BA48BFD0BE3B9EA73E473D95BCFC79543E2CA80B3C5D16A7BDBCFB9EBE5EC3B93DC45447BE27D1703E14BE983E84BE51BECA9780BE60FC72BE757C18BEACA0A9BC91E530BECD54D0BE6CBFEC3C"> : tensor<3x3x12x3xf32>
    %0 = tensor.empty() : tensor<1x12x12x4xf32>
    %1 = linalg.fill ins(%cst_5 : f32) outs(%0 : tensor<1x12x12x4xf32>) -> tensor<1x12x12x4xf32>
    %padded = tensor.pad %arg0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%arg1: index, %arg2: index, %arg3: index, %arg4: index):
      tensor.yield %cst_5 : f32
    } : tensor<1x12x12x3xf32> to tensor<1x14x14x3xf32>
    %2 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %cst_6 : tensor<1x14x14x3xf32>, tensor<3x3x3x4xf32>) outs(%1 : tensor<1x12x12x4xf32>) -> tensor<1x12x12x4xf32>
    %3 = tensor.empty() : tensor<1x12x12x4xi1>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2 : tensor<1x12x12x4xf32>) outs(%3 : tensor<1x12x12x4xi1>) {
    ^bb0(%in: f32, %out: i1):
      %112 = arith.cmpf oge, %in, %cst_5 : f32
      linalg.yield %112 : i1
    } -> tensor<1x12x12x4xi1>
    %5 = tensor.empty() : tensor<1x12x12x4xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2 : tensor<1x12x12x4xf32>) outs(%5 : tensor<1x12x12x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.mulf %in, %cst_4 : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x12x4xf32>
    %7 = tensor.empty() : tensor<1x12x12x4xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%4, %2, %6 : tensor<1x12x12x4xi1>, tensor<1x12x12x4xf32>, tensor<1x12x12x4xf32>) outs(%7 : tensor<1x12x12x4xf32>) {
    ^bb0(%in: i1, %in_16: f32, %in_17: f32, %out: f32):
      %112 = arith.select %in, %in_16, %in_17 : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x12x4xf32>
    %9 = tensor.empty() : tensor<1x6x6x8xf32>
    %10 = linalg.fill ins(%cst_5 : f32) outs(%9 : tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32>
    %padded_10 = tensor.pad %8 low[0, 0, 0, 0] high[0, 1, 1, 0] {
    ^bb0(%arg1: index, %arg2: index, %arg3: index, %arg4: index):
      tensor.yield %cst_5 : f32
    } : tensor<1x12x12x4xf32> to tensor<1x13x13x4xf32>
    %11 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%padded_10, %cst_7 : tensor<1x13x13x4xf32>, tensor<3x3x4x8xf32>) outs(%10 : tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32>
    %12 = tensor.empty() : tensor<1x6x6x8xi1>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%11 : tensor<1x6x6x8xf32>) outs(%12 : tensor<1x6x6x8xi1>) {
    ^bb0(%in: f32, %out: i1):
      %112 = arith.cmpf oge, %in, %cst_5 : f32
      linalg.yield %112 : i1
    } -> tensor<1x6x6x8xi1>
    %14 = tensor.empty() : tensor<1x6x6x8xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%11 : tensor<1x6x6x8xf32>) outs(%14 : tensor<1x6x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.mulf %in, %cst_4 : f32
      linalg.yield %112 : f32
    } -> tensor<1x6x6x8xf32>
    %16 = tensor.empty() : tensor<1x6x6x8xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%13, %11, %15 : tensor<1x6x6x8xi1>, tensor<1x6x6x8xf32>, tensor<1x6x6x8xf32>) outs(%16 : tensor<1x6x6x8xf32>) {
    ^bb0(%in: i1, %in_16: f32, %in_17: f32, %out: f32):
      %112 = arith.select %in, %in_16, %in_17 : f32
      linalg.yield %112 : f32
    } -> tensor<1x6x6x8xf32>
    %18 = tensor.empty() : tensor<f32>
    %19 = linalg.generic {indexing_maps = [#map1], iterator_types = []} outs(%18 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst_2 : f32
    } -> tensor<f32>
    %20 = tensor.empty() : tensor<12xf32>
    %21 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%20 : tensor<12xf32>) {
    ^bb0(%out: f32):
      %112 = linalg.index 0 : index
      %113 = arith.index_cast %112 : index to i32
      %114 = arith.sitofp %113 : i32 to f32
      linalg.yield %114 : f32
    } -> tensor<12xf32>
    %22 = tensor.empty() : tensor<12xf32>
    %23 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%21 : tensor<12xf32>) outs(%22 : tensor<12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.addf %in, %cst_3 : f32
      linalg.yield %112 : f32
    } -> tensor<12xf32>
    %24 = tensor.empty() : tensor<12xf32>
    %25 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%23 : tensor<12xf32>) outs(%24 : tensor<12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.mulf %in, %cst_3 : f32
      linalg.yield %112 : f32
    } -> tensor<12xf32>
    %26 = tensor.empty() : tensor<12xf32>
    %27 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%25 : tensor<12xf32>) outs(%26 : tensor<12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.subf %in, %cst_3 : f32
      linalg.yield %112 : f32
    } -> tensor<12xf32>
    %28 = tensor.empty() : tensor<6xf32>
    %29 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%28 : tensor<6xf32>) {
    ^bb0(%out: f32):
      %112 = linalg.index 0 : index
      %113 = arith.index_cast %112 : index to i32
      %114 = arith.sitofp %113 : i32 to f32
      linalg.yield %114 : f32
    } -> tensor<6xf32>
    %30 = tensor.empty() : tensor<6x12xf32>
    %31 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%27 : tensor<12xf32>) outs(%30 : tensor<6x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<6x12xf32>
    %32 = tensor.empty() : tensor<6x12xf32>
    %33 = linalg.generic {indexing_maps = [#map5, #map4], iterator_types = ["parallel", "parallel"]} ins(%29 : tensor<6xf32>) outs(%32 : tensor<6x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<6x12xf32>
    %34 = tensor.empty() : tensor<6x12xf32>
    %35 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%31, %33 : tensor<6x12xf32>, tensor<6x12xf32>) outs(%34 : tensor<6x12xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %112 = arith.subf %in, %in_16 : f32
      linalg.yield %112 : f32
    } -> tensor<6x12xf32>
    %36 = tensor.empty() : tensor<6x12xf32>
    %37 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%35 : tensor<6x12xf32>) outs(%36 : tensor<6x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = math.absf %in : f32
      linalg.yield %112 : f32
    } -> tensor<6x12xf32>
    %38 = tensor.empty() : tensor<6x12xf32>
    %39 = linalg.generic {indexing_maps = [#map6, #map4], iterator_types = ["parallel", "parallel"]} ins(%19 : tensor<f32>) outs(%38 : tensor<6x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<6x12xf32>
    %40 = tensor.empty() : tensor<6x12xf32>
    %41 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%37, %39 : tensor<6x12xf32>, tensor<6x12xf32>) outs(%40 : tensor<6x12xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %112 = arith.divf %in, %in_16 : f32
      linalg.yield %112 : f32
    } -> tensor<6x12xf32>
    %42 = tensor.empty() : tensor<6x12xf32>
    %43 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%41 : tensor<6x12xf32>) outs(%42 : tensor<6x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = math.absf %in : f32
      linalg.yield %112 : f32
    } -> tensor<6x12xf32>
    %44 = tensor.empty() : tensor<6x12xf32>
    %45 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%43 : tensor<6x12xf32>) outs(%44 : tensor<6x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.subf %cst_2, %in : f32
      linalg.yield %112 : f32
    } -> tensor<6x12xf32>
    %46 = tensor.empty() : tensor<6x12xf32>
    %47 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%45 : tensor<6x12xf32>) outs(%46 : tensor<6x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.maximumf %in, %cst_5 : f32
      linalg.yield %112 : f32
    } -> tensor<6x12xf32>
    %48 = tensor.empty() : tensor<12xf32>
    %49 = linalg.fill ins(%cst_5 : f32) outs(%48 : tensor<12xf32>) -> tensor<12xf32>
    %50 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "reduction"]} ins(%47 : tensor<6x12xf32>) outs(%49 : tensor<12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.addf %out, %in : f32
      linalg.yield %112 : f32
    } -> tensor<12xf32>
    %51 = tensor.empty() : tensor<1x12xf32>
    %52 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%50 : tensor<12xf32>) outs(%51 : tensor<1x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x12xf32>
    %53 = tensor.empty() : tensor<12xf32>
    %54 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%50 : tensor<12xf32>) outs(%53 : tensor<12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = math.absf %in : f32
      linalg.yield %112 : f32
    } -> tensor<12xf32>
    %55 = tensor.empty() : tensor<1x12xf32>
    %56 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%54 : tensor<12xf32>) outs(%55 : tensor<1x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x12xf32>
    %57 = tensor.empty() : tensor<1x12xi1>
    %58 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%56 : tensor<1x12xf32>) outs(%57 : tensor<1x12xi1>) {
    ^bb0(%in: f32, %out: i1):
      %112 = arith.cmpf ogt, %in, %cst_1 : f32
      linalg.yield %112 : i1
    } -> tensor<1x12xi1>
    %59 = tensor.empty() : tensor<1x12xi1>
    %60 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%52 : tensor<1x12xf32>) outs(%59 : tensor<1x12xi1>) {
    ^bb0(%in: f32, %out: i1):
      %112 = arith.cmpf une, %in, %cst_5 : f32
      linalg.yield %112 : i1
    } -> tensor<1x12xi1>
    %61 = tensor.empty() : tensor<f32>
    %62 = linalg.generic {indexing_maps = [#map1], iterator_types = []} outs(%61 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst_2 : f32
    } -> tensor<f32>
    %63 = tensor.empty() : tensor<1x12xf32>
    %64 = linalg.generic {indexing_maps = [#map6, #map4], iterator_types = ["parallel", "parallel"]} ins(%62 : tensor<f32>) outs(%63 : tensor<1x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x12xf32>
    %65 = tensor.empty() : tensor<1x12xf32>
    %66 = linalg.generic {indexing_maps = [#map4, #map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%60, %52, %64 : tensor<1x12xi1>, tensor<1x12xf32>, tensor<1x12xf32>) outs(%65 : tensor<1x12xf32>) {
    ^bb0(%in: i1, %in_16: f32, %in_17: f32, %out: f32):
      %112 = arith.select %in, %in_16, %in_17 : f32
      linalg.yield %112 : f32
    } -> tensor<1x12xf32>
    %67 = tensor.empty() : tensor<6x12xf32>
    %68 = linalg.generic {indexing_maps = [#map8, #map4], iterator_types = ["parallel", "parallel"]} ins(%66 : tensor<1x12xf32>) outs(%67 : tensor<6x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<6x12xf32>
    %69 = tensor.empty() : tensor<6x12xf32>
    %70 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%47, %68 : tensor<6x12xf32>, tensor<6x12xf32>) outs(%69 : tensor<6x12xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %112 = arith.divf %in, %in_16 : f32
      linalg.yield %112 : f32
    } -> tensor<6x12xf32>
    %71 = tensor.empty() : tensor<f32>
    %72 = linalg.generic {indexing_maps = [#map1], iterator_types = []} outs(%71 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst_5 : f32
    } -> tensor<f32>
    %73 = tensor.empty() : tensor<6x12xi1>
    %74 = linalg.generic {indexing_maps = [#map8, #map4], iterator_types = ["parallel", "parallel"]} ins(%58 : tensor<1x12xi1>) outs(%73 : tensor<6x12xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<6x12xi1>
    %75 = tensor.empty() : tensor<6x12xf32>
    %76 = linalg.generic {indexing_maps = [#map6, #map4], iterator_types = ["parallel", "parallel"]} ins(%72 : tensor<f32>) outs(%75 : tensor<6x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<6x12xf32>
    %77 = tensor.empty() : tensor<6x12xf32>
    %78 = linalg.generic {indexing_maps = [#map4, #map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%74, %70, %76 : tensor<6x12xi1>, tensor<6x12xf32>, tensor<6x12xf32>) outs(%77 : tensor<6x12xf32>) {
    ^bb0(%in: i1, %in_16: f32, %in_17: f32, %out: f32):
      %112 = arith.select %in, %in_16, %in_17 : f32
      linalg.yield %112 : f32
    } -> tensor<6x12xf32>
    %79 = tensor.empty() : tensor<12xi1>
    %80 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%27 : tensor<12xf32>) outs(%79 : tensor<12xi1>) {
    ^bb0(%in: f32, %out: i1):
      %112 = arith.cmpf oge, %in, %cst_0 : f32
      linalg.yield %112 : i1
    } -> tensor<12xi1>
    %81 = tensor.empty() : tensor<12xi1>
    %82 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%27 : tensor<12xf32>) outs(%81 : tensor<12xi1>) {
    ^bb0(%in: f32, %out: i1):
      %112 = arith.cmpf ole, %in, %cst : f32
      linalg.yield %112 : i1
    } -> tensor<12xi1>
    %83 = tensor.empty() : tensor<12xi1>
    %84 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel"]} ins(%80, %82 : tensor<12xi1>, tensor<12xi1>) outs(%83 : tensor<12xi1>) {
    ^bb0(%in: i1, %in_16: i1, %out: i1):
      %112 = arith.andi %in, %in_16 : i1
      linalg.yield %112 : i1
    } -> tensor<12xi1>
    %85 = tensor.empty() : tensor<6x12xi1>
    %86 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%84 : tensor<12xi1>) outs(%85 : tensor<6x12xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<6x12xi1>
    %87 = tensor.empty() : tensor<6x12xf32>
    %88 = linalg.generic {indexing_maps = [#map4, #map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%86, %78, %76 : tensor<6x12xi1>, tensor<6x12xf32>, tensor<6x12xf32>) outs(%87 : tensor<6x12xf32>) {
    ^bb0(%in: i1, %in_16: f32, %in_17: f32, %out: f32):
      %112 = arith.select %in, %in_16, %in_17 : f32
      linalg.yield %112 : f32
    } -> tensor<6x12xf32>
    %89 = tensor.empty() : tensor<12x6xf32>
    %90 = linalg.generic {indexing_maps = [#map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%88 : tensor<6x12xf32>) outs(%89 : tensor<12x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x6xf32>
    %collapsed = tensor.collapse_shape %17 [[0, 1], [2, 3]] : tensor<1x6x6x8xf32> into tensor<6x48xf32>
    %91 = tensor.empty() : tensor<12x48xf32>
    %92 = linalg.fill ins(%cst_5 : f32) outs(%91 : tensor<12x48xf32>) -> tensor<12x48xf32>
    %93 = linalg.matmul ins(%90, %collapsed : tensor<12x6xf32>, tensor<6x48xf32>) outs(%92 : tensor<12x48xf32>) -> tensor<12x48xf32>
    %expanded = tensor.expand_shape %93 [[0], [1, 2, 3]] output_shape [12, 1, 6, 8] : tensor<12x48xf32> into tensor<12x1x6x8xf32>
    %94 = tensor.empty() : tensor<12x1x8x6xf32>
    %95 = linalg.generic {indexing_maps = [#map9, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<12x1x6x8xf32>) outs(%94 : tensor<12x1x8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x1x8x6xf32>
    %collapsed_11 = tensor.collapse_shape %95 [[0, 1, 2], [3]] : tensor<12x1x8x6xf32> into tensor<96x6xf32>
    %96 = tensor.empty() : tensor<96x12xf32>
    %97 = linalg.fill ins(%cst_5 : f32) outs(%96 : tensor<96x12xf32>) -> tensor<96x12xf32>
    %98 = linalg.matmul ins(%collapsed_11, %88 : tensor<96x6xf32>, tensor<6x12xf32>) outs(%97 : tensor<96x12xf32>) -> tensor<96x12xf32>
    %expanded_12 = tensor.expand_shape %98 [[0, 1, 2], [3]] output_shape [12, 1, 8, 12] : tensor<96x12xf32> into tensor<12x1x8x12xf32>
    %99 = tensor.empty() : tensor<1x12x12x8xf32>
    %100 = linalg.generic {indexing_maps = [#map10, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_12 : tensor<12x1x8x12xf32>) outs(%99 : tensor<1x12x12x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x12x12x8xf32>
    %101 = tensor.empty() : tensor<1x12x12x8xf32>
    %102 = linalg.fill ins(%cst_5 : f32) outs(%101 : tensor<1x12x12x8xf32>) -> tensor<1x12x12x8xf32>
    %103 = tensor.empty() : tensor<1x14x14x8xf32>
    %104 = linalg.fill ins(%cst_5 : f32) outs(%103 : tensor<1x14x14x8xf32>) -> tensor<1x14x14x8xf32>
    %inserted_slice = tensor.insert_slice %17 into %104[0, 2, 2, 0] [1, 6, 6, 8] [1, 2, 2, 1] : tensor<1x6x6x8xf32> into tensor<1x14x14x8xf32>
    %105 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%inserted_slice, %cst_8 : tensor<1x14x14x8xf32>, tensor<3x3x8x8xf32>) outs(%102 : tensor<1x12x12x8xf32>) -> tensor<1x12x12x8xf32>
    %106 = tensor.empty() : tensor<1x12x12x8xf32>
    %107 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%105, %100 : tensor<1x12x12x8xf32>, tensor<1x12x12x8xf32>) outs(%106 : tensor<1x12x12x8xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %112 = arith.addf %in, %in_16 : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x12x8xf32>
    %108 = tensor.empty() : tensor<1x12x12x12xf32>
    %inserted_slice_13 = tensor.insert_slice %107 into %108[0, 0, 0, 0] [1, 12, 12, 8] [1, 1, 1, 1] : tensor<1x12x12x8xf32> into tensor<1x12x12x12xf32>
    %inserted_slice_14 = tensor.insert_slice %8 into %inserted_slice_13[0, 0, 0, 8] [1, 12, 12, 4] [1, 1, 1, 1] : tensor<1x12x12x4xf32> into tensor<1x12x12x12xf32>
    %109 = tensor.empty() : tensor<1x12x12x3xf32>
    %110 = linalg.fill ins(%cst_5 : f32) outs(%109 : tensor<1x12x12x3xf32>) -> tensor<1x12x12x3xf32>
    %padded_15 = tensor.pad %inserted_slice_14 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%arg1: index, %arg2: index, %arg3: index, %arg4: index):
      tensor.yield %cst_5 : f32
    } : tensor<1x12x12x12xf32> to tensor<1x14x14x12xf32>
    %111 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded_15, %cst_9 : tensor<1x14x14x12xf32>, tensor<3x3x12x3xf32>) outs(%110 : tensor<1x12x12x3xf32>) -> tensor<1x12x12x3xf32>
    return %111 : tensor<1x12x12x3xf32>
  }
}

