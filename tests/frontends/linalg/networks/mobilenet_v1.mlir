#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @network(%arg0: tensor<1x3x64x64xf32>) -> tensor<1x10xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant dense<"0xAD290C3DE94413BDF47B323E1AE2E93C2B4A15BE208DC93DF5B5B53E7CF9833E172144BEBC55B0BE7DB42DBE7747383CBDFE21BF21E873BDBB9DADBEC2144CBE02AF17BEDB4DB0BDD870E53DDF45913E064A0FBD3C6ABE3E5A6339BE12EEC33D7DCB7B3EA29BD13C1D364FBEF87080BE5322FFBDA978753D64B08CBED52F69BDA08031BD79BB163EC34C6F3D3E15C63D6C3836BEF37D10BDF47D5A3E961BD03EFF72AFBEA0F6D23ECA8BBB3EE1BF593E0068933DA0FAAEBD612CCB3E6C94083F3A0EFB3E1142B73EBA33C73DB060A8BEBFE49EBA3AF5363E1488B3BE333DDC3D979AEF3D41FC413E5F01A5BE346A38BE4F44F3BDAC02A3BEF560F23E86350ABEB45DB73D862090BDACA7DC3E9BFDB73E8883303E368719BF6A01683CA88A3E3E9AE68B3E8B352CBE1FE5FD3E1B00B8BEC05D38BE4D4C823E0CBE5A3CF5830B3FC928523D387830BEB773D2BDC30C98BE0B0BB2BEB1B12F3E2EF8213E2965B43E874E52BE0160EB3E4030A0BD4F64DB3E903BF1BD34FA4CBEA73A8B3D51BB8F3EEB7D333D782F23BEB5E5BABED34CC3BEB1180C3E4FEA893E6A2737BD1EB695BE8E50733EDA6BB2BEF5BA46BE7D132D3EF5C61CBF495CD73D131A22BED8A5F33C59C8A8BCAB50613DC876413E135B53BE1703C63E4B5C4A3E6C256B3E8552A23EB67F5B3E1C3E6B3EC18AA83CB4D1C6BE038C16BD397656BEDE41C6BE6F0F903D0C741EBE81808FBE455791BE459D953D05ECC73D6548B83EE13078BBD72D913E6367C33E2E46A03E13CD24BF2E37AB3E704DBD3D4235EC3D99EBCE3DD058D53D360AB23D760EC8BDC97E04BF87D5F2BC81FF5FBEF984963EFEF4A0BD701DBA3C76C86CBE284F0EBE09B64DBB34FCCEBEB299A73D207FECBC843AA5BE6B1827BF81FC0E3E32DFA5BD47B613BEA4A183BDA81FFD3E0C125EBCE41FC13CC438CFBEFD8DE53E9DB37F3E11AD943E9194543C2A787F3E90C3CE3DEEE42A3EC7A929BD6B62CDBE9C5E8F3E2ED106BF50BD85BDE7FF63BD3E5291BE3AE02A3E57535FBD1B82F3BDEBE0103E46D204BE798DC13E39E6C33D073204BE287707BFD93BB6BED272973ED0A661BC00D09DBD2DFCE43E4EBCB2BEAB3823BE81B503BE2669233EF4EC38BE41F52ABEF2ACDFBE92444B3E45AB603ED8C304BEF916363DED20B4BE3F7E03BE0804C03EAF4F173D1FF9203F7E635BBE4CB9213EACF259BD28B11D3E"> : tensor<8x3x3x3xf32>
    %cst_1 = arith.constant dense<[-7.21135991E-4, -0.0561198108, -0.0867616757, 0.30660367, -0.00773450593, -0.201666072, -0.0648600608, 0.0678039715]> : tensor<8xf32>
    %cst_2 = arith.constant dense<[0.00675692083, -0.0291282907, 0.0294042137, -0.150977254, 0.0644190535, -0.022993248, 0.0358608067, -0.0340310112]> : tensor<8xf32>
    %cst_3 = arith.constant dense<"0xC8CEC3BE5EAECF3E92A83A3E3E054ABEA7F7BB3E43062F3F75180CBF56719ABEAA4FF13E7D0CB83EBF23E83D38CA143F864A0BBF63543DBF6DD3DDBE66F87A3D58CCCBBEA87479BE9C99F9BE72D49EBEDE9C00BF88243C3EFB7DCB3E03FD75BE7C3DD4BD8DBE94BE1400883E0363363D550D4C3F6D380CBFED99393ED752633E9D8B38BE7E62953E832138BF789A873F1DC82BBF7D78EB3EF3800FBF2350133F1A0145BE9D39A23DFB7EDA3CDBE40C3FDEA124BE57E6BDBF3693C2BE151FBC3D0C8561BEFB12C53E3CF6013F7E5197BDB3AC3EBF532C313F7FA10A3F952F19BE33EE863FCE9F32BE248D11BF499D9FBD75F6093FF3FCEFBEBEC1793FBE82E5BE0555F43EE3618B3E22C19DBDE84E0A3F68F93FBFEAC42D3FC66C02BD09DD8ABEDFC9BF3EC5AA073F5011C53EBEEF7F3F3B550A3FF249243F86348ABE23295A3DA01F903E2B5811BCEF6F1A3E672A5A3E5F20D83E521850BDE21833BE7F0CD4BE9248E4BEE212163F9A192DBD3075C93E051026BFE41578BF9F4806BFACC4123FC3B6083FF7002A3E065BCDBE21F185BD107418BE59A030BE7363A0BF10A1DBBEE7ABC2BD4E1A423FD499A43D4F50333FF49349BE666001BE2090F9BFA2396D3E760E8C3EDBC2613FC43879BEE5D3403D7B9DB4BE978F16BF3E8EB6BEA6A330BEFE7E2D3F89F0903A2561CABE6C48913D07CBDE3D8B1DADBE7B55123F6BB571BF"> : tensor<16x8x1x1xf32>
    %cst_4 = arith.constant dense<[-0.021354463, 0.0665066093, -0.133843258, 0.0361253731, 0.129289299, 0.0453671254, -0.169015989, -7.281950e-02, 0.123230338, 0.0298335254, -9.85893887E-4, 0.0441200584, 0.0721048936, -0.0708465204, -0.0290400088, 0.0142913647]> : tensor<16xf32>
    %cst_5 = arith.constant dense<[0.0548486821, 0.0917672514, 0.044070676, 0.0342515409, 0.0473947078, -0.0267308429, 0.118832789, -0.034857206, -0.146235198, 0.0849783644, 0.185070276, -0.0960151106, -0.0101631125, -6.854420e-02, -0.0380583256, 0.00460929703]> : tensor<16xf32>
    %cst_6 = arith.constant dense<"0x7DB3E9BE6083133D134185BE3E7E643E136E2ABC1663153EACA2D3BDC4E465BE094F03BD8286E7BA078C7FBEAD711A3EEA25873E9FED643D66161B3F62EE64BEDD793C3E51FA13BED1E3A93DA43C96BEE0DBC93ECFE77E3DBED1D73E1230E5BEEDAB32BE5992A1BE629540BE62C07ABEDA8F2EBDF0CFC7BBE2686DBC021F49BED8B5873DDB809E3E4F54A3BE0AB8A4393F88D6BCFF8F293E48F4B8BC007BB5BB5268B3BEB371FB3B01E1A6BE73B43A3E1C7A15BD76E2663C9C52A1BEE47E913EF8A47A3ED6F39B3E9899493FC51C98BCD5D6D93E635233BDC2AC0E3E2B44043EBC95BF3D6F506E3ECD12DCBDE81A6D3C84CD413E9B321E3F9C7B98BEF37823BFF7412FBEF43A023DD6647D3DAE8B053D9E1BD63E13AFB03EF2B18EBC85FE29BE8589FABDF2FE00BEFA59A3BD0F570EBF22EA26BEB0D219BE96C388BD0422B8BDE64A733E859540BE37C81EBEEA33443EDB62AABDDFBA9C3D4E53723EEFC4183E1023B53D273D8EBD3EDF763E35397E3DB6C636BE21655ABD4681DCBE6B0FAEBEE06B2ABF552976BE72C2F13E717849BE648F8E3E99DE9FBA32A07DBE2541F23EF2C7523E0D8E1EBF9183BC3EDC8EC2BECED280BD05E2713EEC1DD9BDEE8CCA3EB0CD893EF5B80EBF180A2BBE423ECC3DF82B50BED6999CBDCBC6903EC95FE53D5CA6A6BE66DB7C3D50AA5DBE2BF9DBBEDD8FCCBE2BC7CF3D1BDA22BC15B7FB3A6B7CCFBEE12D85BD55BFBBBEF8B1A7BE0C216FBDA16BFABEF64C723E4216613F9C1C263E1FC9BCBEFA5BC4BD3CC80CBF34B608BED2AA373E4D61553EF0C3BABEC69AD83D0C55D13E4EDA1E3F00B77DBED96F9CBEEE9A9D3C9F8284BF3D4140BEF334C4BDB04C26BE185B0FBF49CCB1BDC8948CBE7C1E893EFF42A6BE9170CCBD1DACA8BD997B4D3ED26D66BF88A3F6BD4A81893EF4F102BEDB330ABF7A7BEC3D90C9F33DF1DAC3BD09F2D1BE971386BE192FE3BD067D9EBE72CB2DBF7B418BBE5CD4B2BC4A9337BEE0E1DABCA54CF23C294CA23EA777473F5477843EEB35FEBEAD7A70BFBCCB08BD54C3CE3C5052D2BEE9F8C43DB6D48ABE32C8113E49B3EBBD97E50F3EA9C61DBFF1BD1EBEA43057BD06F700BFAC5E2A3FE8C743BE9C9CFB3E7D8470BE5484A6BD244FD63E80FEDB3DED0F8B3D4A90C03D0E4DF7BE8E080DBE9A22ADBE58F18E3DC8F244BEBB377FBCF9DCDFBC06AE52BCDE4649BCA42F6CBE7ECBBEBECE8570BE1BF8C13E0776073E2380543E06CDF93EF37FD5BE5C9F383EF59BC2BE2915F2BD45502F3E261D123F44968DBE964709BD1D4DD13E90D706BF5019033E9C37DFBD959A9FBE1858543DDC62573E921BA5BE2D92093E0A117B3DCFCAE0BE50990C3F204BC53ED3A99BBE116254BEB0868B3E295F33BE278326BF32DEBD3E41784B3BB49A2C3FBB6A013E184B8A3DC515823FF8E378BD0C4CACBE02F5A53DF697CD3EC6E8D2BEDE69A4BE32D6223E01B290BFC4CBC5BE7DFF8F3E2C6C54BE633613BF4B482E3F8A55FFBE837A3DBE77F106BED8CFF03C72C605BEFB7FEABCA885A63CB00AFBBC3013073DD75057BFB7AE1F3EDC3BFEBE351A44BFF90CFA3E00B4E8BE393D823D3CD98BBE8AA175BE0B1A2F3EBEBFBDBE29EC063E4DD3093E9FC9D23EC371F3BD9E73BD3E50BD1B3F2F9C0F3FBA2E543E919D223E9DF3803F94084A3FC6C58ABEEC30A73EBAEE593E164FD13C1A055E3DDA98303E15AEA93E03689E3D7409F63D1B01FC3ED50DE63DB851453E3440B33E77D3133F3E1EDE3E0091083E7679963DF47EDDBED379D33D6FBFBBBEF65EB9BE67826B3EBDA611BD46F52A3E22FC62BEEF70D93E5134503D7600D73EBFCF733E614E6F3DD43E2DBEEA82363CCBE2953E3F947C3E876CD8BE15ABB93ECAE29ABD1894933E8A847CBEA4ED663ED33290BE26543B3DF0CBD7BDD1C6CEBD62204DBE03685EBD558B1DBF76AE9E3E7815AE3E204D20BE24C3F9BE3E226ABE5989AB3E7476623EAD7AD9BD916CA23E3587BCBE4DCC5DBE80D32B3EB8E50ABD8F5255BE315F63BF9B01733E4E66EA3D57C01DBF5357593E5668A6BBE0E5C93D2719AB3E0FEF85BE3E2B813EE794773E5DD9893EDF11143FCC7C6E3E3C4E4BBE6CC5223FEA71C8BE1A8627BE7196AEBE44D014BD12E7C33EA2ECEA3EADCF273E869F5CBE9C6E48BE"> : tensor<24x16x1x1xf32>
    %cst_7 = arith.constant dense<[-0.0603196137, 0.095284067, -0.0906539335, 0.0864526256, -0.00325940712, 0.017205108, 0.151171833, -4.753340e-02, 0.166172862, -0.140945271, -0.08247637, -0.157839134, -0.0746781901, 0.0582882091, 0.0737729073, 0.0306775309, 0.0267091971, -0.117332697, -0.132683188, 0.0303890016, 0.134780705, -0.0364134759, -0.126855955, -0.153328046]> : tensor<24xf32>
    %cst_8 = arith.constant dense<"0x49E3AABEABDD3DBEF9B198BD077097BAB52987BDE9A9FE3CA429E53EAF1DC23DCB0D813DD174C3390CBB0FBD62DB803E52324FBE01FED1BCF40A65BE6DB2913CFC12C73C3B68403EC7567A3E85980A3E7B8BA93E5704A63EA3D5833D85139C3D245DCABE60E0853D6D3988BA9F77B0BEDD56B4BDAE1F483E5C7781BEDB20873EF27CC63D1DF43EBD60FFEDBC55792D3EE69895BE8148D53E04062ABE3FF61FBE352B7F3EA323253ECD848A3E5DA25A3ED5599D3D9B6585BE40ABC5BDE6E9253D08DC65BB1F8AD6BE0C4E5A3EA6ECB43ECF03993E96C154BE1841B63D5F3EDEBE5EA0B03E54BDCABE959CAB3D8C01733E43F5863EABCB8F3D36FF94BE452FA9BCCD5660BDBDFD993D35764E3EC1610A3EC4BBDD3EC72C0A3E308BA2BD0A5AAA3EBE7C83BDFAA96B3DA625173D50ABEFBE7472673DA3FF713D34552FBD0A42ECBC2A3C86BED7E4893CB6129D3EB93614BDD045DABD0D0FFEBD1BCFD23E7CA38DBE329D303E184DBA3C82C1C83EDB0A893E20AF93BCEF19A1BEF569953EE661983E38F366BE62C51B3EF46027BEE23D22BE1E31A8BEAFFF423E3EB0623D48B9CE3DE9CC973E0DC20B3ED05FF43D969D1C3E27855EBE4087E6BBF6227CBE471A3CBEC08899BC85F55D3E6F1BD73E99D462BE96EB103D97266DBCAC68DC3D6A79F33D4182973D8A294ABE1AFEA43D55843A3E019FD6BDB9BDCE3EBE6844BDCF7D04BEE0CC773D5F5E57BDA7E28EBEB9F4AEBBF4C4A63EAC49D13EB00CEDBD2C393D3E209DDD3C015B6D3D7774843E471A323EB106013D082142BE20F06ABEAA1956BC0C49873D6059D23D1E73233E86C14C3E3926FBBE05D73C3ED9F05ABEB8DD683E9FBB8C3D35CD033EC921E2BD99526C3D3325C3BE8FEE643E4F4E8ABD5F4B07BFE6DF5D3E043EAF3E9F2137BE027C7D3E5BB71CBEABE0ECBE989D95BD1257883D7B52DF3C253CAD3C41D6773D810F353DC5A034BDBD67FBBDEE3B5EBDF10393BD76457DBDF38A66BE5DD4E2BD567F893CF659813DF12256BC828E19BDBD6CDF3D273E2A3E05270E3EBFE2B6BE6161BEBD857F133EBD75D73D9C180E3ED969833DB06832BE558B7F3EBF178EBED20B4E3ED80E5BBBCEE899BEDA9CA5BDA99C7B3EA7FAF5BD3D0B7DBE947471BD20FF2ABEC1B382BE38E9B63D23D6263E35A6E6BD0BE6DA3D92CBA1BD8FBDA6BC065ACE3CBE109C3EDE2ED43D76D650BEF6A3D73D11EF38BDD1F5C2BD90872FBEE8A5AFBBE91A49BC7E21A8BD176491BE546BB2BE8503D63CE3FE143D8529E43EF96015BD5280553E41D3793ED63A4CBCED6C803CCFB1B3BD5086B93E0BA69DBE659704BC28A8903E9D0FB4BCA4ADEEBD20B6423D"> : tensor<10x24xf32>
    %cst_9 = arith.constant dense<[5.269880e-01, 0.567443073, 0.281643301, 0.750091135, 0.945701062, -1.10688293, -0.378891826, 0.869691312, 4.886200e-01, 0.234600112]> : tensor<10xf32>
    %cst_10 = arith.constant dense<[[[[0.259383082]], [[-6.913450e-02]], [[0.17091684]], [[-0.09779381]], [[0.352133453]], [[0.0398435965]], [[-0.0764004588]], [[0.510484815]]]]> : tensor<1x8x1x1xf32>
    %cst_11 = arith.constant dense<[[[[1.67178571]], [[1.22830272]], [[1.1339426]], [[1.81629336]], [[0.63022232]], [[1.56262815]], [[1.68373191]], [[1.6987946]]]]> : tensor<1x8x1x1xf32>
    %cst_12 = arith.constant 9.99999974E-6 : f32
    %cst_13 = arith.constant dense<[[[[0.818017363]], [[1.21087992]], [[0.960355341]], [[1.00746989]], [[1.2896657]], [[0.592745483]], [[1.07875848]], [[0.697234928]]]]> : tensor<1x8x1x1xf32>
    %cst_14 = arith.constant dense<[[[[0.240879253]], [[0.318140149]], [[-0.251227617]], [[-0.236336589]], [[-0.353702366]], [[-0.192770839]], [[-0.621267378]], [[-0.228455797]]]]> : tensor<1x8x1x1xf32>
    %cst_15 = arith.constant dense<[[[-0.31475082, 0.0769539624, -0.391620219], [1.10582459, -0.331934571, -0.213581339], [-0.50244087, -0.16316314, -0.00276998547]], [[0.361939281, -0.287786156, -0.0875746831], [-0.667739511, -0.390041143, 1.29910016], [0.490846753, -0.368366838, -0.630455076]], [[-0.45989415, -0.0102251694, 0.0163708366], [-0.350894958, -0.606497049, 0.670515656], [0.212926567, -0.176573053, -0.104020692]], [[-0.249623045, -1.38406515, 0.054523509], [-0.504659474, -0.472669899, -0.301822603], [0.345210344, -0.551793516, -0.676126778]], [[0.301629156, 0.355612904, -0.452045679], [0.265116811, -0.137476847, 0.142030492], [-0.5944224, 0.392630219, 0.567221701]], [[0.300319195, 0.263203979, -1.7782675], [0.122862041, -0.0119950371, -0.0693179145], [-0.297257304, 2.609930e-02, 0.194274008]], [[-0.124350928, -0.2184131, 0.579711497], [-0.52107507, 0.485619813, 8.335020e-02], [-0.379153311, -0.136698782, -0.433689147]], [[0.318228453, 0.164002463, -0.262476236], [-0.519590676, 0.142230332, 0.45131591], [-0.0536629707, 0.197213262, -0.177260906]]]> : tensor<8x3x3xf32>
    %cst_16 = arith.constant dense<[[[[-0.079001978]], [[-0.175891936]], [[0.294964522]], [[-0.0099511519]], [[-0.0734805166]], [[0.0437571965]], [[0.168977752]], [[0.198667243]]]]> : tensor<1x8x1x1xf32>
    %cst_17 = arith.constant dense<[[[[1.96329951]], [[0.661215841]], [[1.17813313]], [[1.09198964]], [[0.84846723]], [[1.62313354]], [[1.4655571]], [[1.58863652]]]]> : tensor<1x8x1x1xf32>
    %cst_18 = arith.constant dense<[[[[1.14604497]], [[1.11133873]], [[0.573716462]], [[0.746405959]], [[1.07437801]], [[0.894186794]], [[1.49202323]], [[1.42374539]]]]> : tensor<1x8x1x1xf32>
    %cst_19 = arith.constant dense<[[[[-0.0495816916]], [[-0.285018027]], [[-0.0382553339]], [[-0.0039754021]], [[0.338113725]], [[0.124425046]], [[-0.305818588]], [[0.405355811]]]]> : tensor<1x8x1x1xf32>
    %cst_20 = arith.constant dense<[[[[0.256496251]], [[0.0564903654]], [[0.161203906]], [[-0.245176539]], [[-0.00450643571]], [[0.0248422641]], [[0.172449231]], [[0.0232121348]], [[0.16081579]], [[-0.100839846]], [[0.0715909824]], [[0.082973279]], [[-0.249955148]], [[0.0351077244]], [[-0.0640725046]], [[-0.380817592]]]]> : tensor<1x16x1x1xf32>
    %cst_21 = arith.constant dense<[[[[0.83418715]], [[0.922742187]], [[1.89030659]], [[1.12576306]], [[1.07879746]], [[1.41676164]], [[1.49621284]], [[1.49041486]], [[0.627138435]], [[1.37285388]], [[1.60388541]], [[1.69335258]], [[1.38280141]], [[0.695859611]], [[0.625610471]], [[0.984580516]]]]> : tensor<1x16x1x1xf32>
    %cst_22 = arith.constant dense<[[[[0.933891236]], [[1.26219714]], [[1.11415732]], [[0.824146389]], [[1.21724093]], [[0.984514653]], [[1.49950135]], [[1.27603161]], [[1.33063149]], [[0.759548903]], [[0.652294933]], [[0.699303925]], [[0.932264983]], [[1.0121491]], [[0.694609344]], [[1.27994478]]]]> : tensor<1x16x1x1xf32>
    %cst_23 = arith.constant dense<[[[[0.365338773]], [[5.799480e-02]], [[-0.0205150563]], [[0.289851934]], [[0.12525624]], [[0.0738573521]], [[-0.0662280768]], [[0.362797111]], [[0.162364319]], [[-0.0406822674]], [[-0.31543982]], [[0.0745903105]], [[-0.228748024]], [[-0.34318918]], [[-5.583030e-02]], [[0.0562942214]]]]> : tensor<1x16x1x1xf32>
    %cst_24 = arith.constant dense<"0x4327BCBE271C193F7E4EBDBDDF462DBE51C8153D9F6AA6BEF4BC203F97BF16BF8E6491BDFE7A273E8CAC49BDB0A3C1BEF997D1BE7C584D3E42B7F8BE00FA9B3EFDEE37BF42F385BE63348C3CF11B17BF675E9D3E332F0FBCDA10FABE7B4C37BF44EF3CBF8314C53C129B0BBF8BB624BFE43BDFBD836C893F4AF9053E2E23B83EB55DCD3DDAFABC3E561522BFE4D04FBE5151FC3D61610ABC755BB9BD1BB7A0BED573F9BD15DCBABE042292BF1B2710BF399B653E51E83B3FAFDC5A3FB9D03A3D54A0D73E1426DB3E4415A7BE19E84CBFD68E6E3C61A954BF946F1ABE4CC6923E945F2BBFE26E793C14A5153F38822E3E5B227C3E9ED9DA3E1A22513F7A30923D2960143F22CEF7BCA4D283BE46F8173EED3792BE78548ABE0AAF92BE61818ABFC2B44B3DE38418BF801F4FBD4AFB2E3F117F7BBEA0D182BE9298243F1BDB833E97B1EB3E6C812BBE848EB43EF09CA5BEC028A3BEB4E88F3E3E6C90BEAB26B93E5050903FF17B4BBF278DB5BEC22D073F52108CBDAC1E0C3FC9C9F3BE25F21F3E415A91BDDE84873DF3D51F3ED63A13BF5EA001BF33DC283F238A0D3E5C574D3D9434AABC0C1C2C3E797F0BBFD61FF1BE6F6D1D3FEF0B923D553ACD3EBA2E92BE8224263F14AC263E5F4E683EDA70843E8E5DC0BE852761BFEBB401BF52C5443F4AF71C3F1C7727BEEA9F11BEBC31FA3ECB96A2BD4BCB1CBFA5B9183FC257663EDCD597BFBD2E17BE57B48A3D7E4E683E6EE4923D2C7199BE19845FBD344E0E3ED65E01BEF48533BED719173FEF78E4BE40B128BEF52175BF6B91823EC0E8C73E"> : tensor<16x3x3xf32>
    %cst_25 = arith.constant dense<[[[[0.00177226553]], [[-0.0394559912]], [[-0.151134178]], [[0.106254481]], [[0.147681922]], [[0.0708745047]], [[-0.472115666]], [[0.201599404]], [[-0.0700476691]], [[-0.243264675]], [[0.120656192]], [[0.112569883]], [[-0.208614737]], [[0.494487137]], [[-0.241925314]], [[-0.346600533]]]]> : tensor<1x16x1x1xf32>
    %cst_26 = arith.constant dense<[[[[0.790876924]], [[1.5318718]], [[1.63849854]], [[0.613083124]], [[1.06922972]], [[0.990271687]], [[1.35564697]], [[1.47957981]], [[0.772081673]], [[1.20448911]], [[1.98825181]], [[5.237790e-01]], [[1.05649042]], [[1.00146866]], [[1.10837448]], [[1.80379057]]]]> : tensor<1x16x1x1xf32>
    %cst_27 = arith.constant dense<[[[[1.3459574]], [[6.366520e-01]], [[1.24758613]], [[0.969823896]], [[0.825883388]], [[1.23430288]], [[1.34514308]], [[0.82246077]], [[0.654811561]], [[1.49168468]], [[1.41918993]], [[0.789841175]], [[1.31441426]], [[0.589693248]], [[1.41254592]], [[1.27465224]]]]> : tensor<1x16x1x1xf32>
    %cst_28 = arith.constant dense<[[[[0.0936297848]], [[0.10535115]], [[0.275089055]], [[-0.362974465]], [[0.347720414]], [[0.25376305]], [[0.114613198]], [[0.476718456]], [[0.0409957208]], [[0.164295778]], [[-0.147682801]], [[0.226871476]], [[0.0335651934]], [[-0.0902400314]], [[0.423387825]], [[-0.0609599315]]]]> : tensor<1x16x1x1xf32>
    %cst_29 = arith.constant dense<[[[[-0.187571198]], [[0.160382539]], [[-0.153777346]], [[-0.15626362]], [[0.17956686]], [[-0.232413799]], [[-0.283850402]], [[0.109010883]], [[-0.391976327]], [[-0.150345132]], [[-0.0731292218]], [[-0.269061387]], [[-0.223478109]], [[0.133174583]], [[0.0584906116]], [[-0.189142287]], [[0.105897114]], [[0.303855687]], [[-0.256483555]], [[0.0122511592]], [[0.39533028]], [[0.122231975]], [[0.16267702]], [[-0.0400305353]]]]> : tensor<1x24x1x1xf32>
    %cst_30 = arith.constant dense<[[[[0.62213087]], [[1.18787777]], [[0.965510487]], [[0.505602121]], [[1.27529526]], [[1.05946672]], [[1.82470179]], [[1.0012641]], [[1.49400663]], [[1.35211754]], [[0.949499905]], [[1.20141804]], [[1.051490e+00]], [[0.856379091]], [[0.63218379]], [[5.781820e-01]], [[0.834054708]], [[0.6249789]], [[0.725946843]], [[0.687379837]], [[1.05994833]], [[0.857260763]], [[0.506613314]], [[0.549368203]]]]> : tensor<1x24x1x1xf32>
    %cst_31 = arith.constant dense<[[[[1.0631386]], [[1.47605741]], [[1.28365159]], [[9.809070e-01]], [[0.696470499]], [[0.769962489]], [[5.424240e-01]], [[1.08158076]], [[0.924230217]], [[1.15854275]], [[1.03146255]], [[0.916784167]], [[8.520260e-01]], [[0.540622234]], [[1.48296702]], [[0.575197279]], [[0.525466084]], [[0.715302944]], [[0.636186242]], [[1.29443288]], [[0.651629686]], [[0.839950084]], [[0.513248384]], [[1.4315691]]]]> : tensor<1x24x1x1xf32>
    %cst_32 = arith.constant dense<[[[[-0.187850595]], [[0.226148233]], [[0.181816086]], [[-0.599000573]], [[-0.0176541433]], [[0.308444887]], [[0.15561147]], [[-0.0882642343]], [[-0.0465580784]], [[-0.260609746]], [[4.125850e-02]], [[-0.358634412]], [[-0.203061342]], [[0.223832875]], [[-0.00411300873]], [[-0.0726852118]], [[-0.0211822242]], [[0.548378825]], [[0.207037598]], [[-0.15512827]], [[0.333349943]], [[-0.0177589878]], [[0.147943392]], [[-0.117326088]]]]> : tensor<1x24x1x1xf32>
    %cst_33 = arith.constant 2.560000e+02 : f32
    %padded = tensor.pad %arg0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%arg1: index, %arg2: index, %arg3: index, %arg4: index):
      tensor.yield %cst : f32
    } : tensor<1x3x64x64xf32> to tensor<1x3x66x66xf32>
    %0 = tensor.empty() : tensor<1x8x32x32xf32>
    %broadcasted = linalg.broadcast ins(%cst_1 : tensor<8xf32>) outs(%0 : tensor<1x8x32x32xf32>) dimensions = [0, 2, 3] 
    %1 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%padded, %cst_0 : tensor<1x3x66x66xf32>, tensor<8x3x3x3xf32>) outs(%broadcasted : tensor<1x8x32x32xf32>) -> tensor<1x8x32x32xf32>
    %2 = tensor.empty() : tensor<1x8x1x1xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_11 : tensor<1x8x1x1xf32>) outs(%2 : tensor<1x8x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %56 = arith.addf %in, %cst_12 : f32
      linalg.yield %56 : f32
    } -> tensor<1x8x1x1xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%3 : tensor<1x8x1x1xf32>) outs(%2 : tensor<1x8x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %56 = math.rsqrt %in : f32
      linalg.yield %56 : f32
    } -> tensor<1x8x1x1xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1, %cst_10 : tensor<1x8x32x32xf32>, tensor<1x8x1x1xf32>) outs(%0 : tensor<1x8x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.subf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x8x32x32xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5, %4 : tensor<1x8x32x32xf32>, tensor<1x8x1x1xf32>) outs(%0 : tensor<1x8x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.mulf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x8x32x32xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6, %cst_13 : tensor<1x8x32x32xf32>, tensor<1x8x1x1xf32>) outs(%0 : tensor<1x8x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.mulf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x8x32x32xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7, %cst_14 : tensor<1x8x32x32xf32>, tensor<1x8x1x1xf32>) outs(%0 : tensor<1x8x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.addf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x8x32x32xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8 : tensor<1x8x32x32xf32>) outs(%0 : tensor<1x8x32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %56 = arith.cmpf ugt, %in, %cst : f32
      %57 = arith.select %56, %in, %cst : f32
      linalg.yield %57 : f32
    } -> tensor<1x8x32x32xf32>
    %padded_34 = tensor.pad %9 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%arg1: index, %arg2: index, %arg3: index, %arg4: index):
      tensor.yield %cst : f32
    } : tensor<1x8x32x32xf32> to tensor<1x8x34x34xf32>
    %broadcasted_35 = linalg.broadcast ins(%cst_2 : tensor<8xf32>) outs(%0 : tensor<1x8x32x32xf32>) dimensions = [0, 2, 3] 
    %10 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%padded_34, %cst_15 : tensor<1x8x34x34xf32>, tensor<8x3x3xf32>) outs(%broadcasted_35 : tensor<1x8x32x32xf32>) -> tensor<1x8x32x32xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_17 : tensor<1x8x1x1xf32>) outs(%2 : tensor<1x8x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %56 = arith.addf %in, %cst_12 : f32
      linalg.yield %56 : f32
    } -> tensor<1x8x1x1xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%11 : tensor<1x8x1x1xf32>) outs(%2 : tensor<1x8x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %56 = math.rsqrt %in : f32
      linalg.yield %56 : f32
    } -> tensor<1x8x1x1xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10, %cst_16 : tensor<1x8x32x32xf32>, tensor<1x8x1x1xf32>) outs(%0 : tensor<1x8x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.subf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x8x32x32xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%13, %12 : tensor<1x8x32x32xf32>, tensor<1x8x1x1xf32>) outs(%0 : tensor<1x8x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.mulf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x8x32x32xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%14, %cst_18 : tensor<1x8x32x32xf32>, tensor<1x8x1x1xf32>) outs(%0 : tensor<1x8x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.mulf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x8x32x32xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%15, %cst_19 : tensor<1x8x32x32xf32>, tensor<1x8x1x1xf32>) outs(%0 : tensor<1x8x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.addf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x8x32x32xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%16 : tensor<1x8x32x32xf32>) outs(%0 : tensor<1x8x32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %56 = arith.cmpf ugt, %in, %cst : f32
      %57 = arith.select %56, %in, %cst : f32
      linalg.yield %57 : f32
    } -> tensor<1x8x32x32xf32>
    %18 = tensor.empty() : tensor<1x16x32x32xf32>
    %broadcasted_36 = linalg.broadcast ins(%cst_4 : tensor<16xf32>) outs(%18 : tensor<1x16x32x32xf32>) dimensions = [0, 2, 3] 
    %19 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%17, %cst_3 : tensor<1x8x32x32xf32>, tensor<16x8x1x1xf32>) outs(%broadcasted_36 : tensor<1x16x32x32xf32>) -> tensor<1x16x32x32xf32>
    %20 = tensor.empty() : tensor<1x16x1x1xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_21 : tensor<1x16x1x1xf32>) outs(%20 : tensor<1x16x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %56 = arith.addf %in, %cst_12 : f32
      linalg.yield %56 : f32
    } -> tensor<1x16x1x1xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%21 : tensor<1x16x1x1xf32>) outs(%20 : tensor<1x16x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %56 = math.rsqrt %in : f32
      linalg.yield %56 : f32
    } -> tensor<1x16x1x1xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%19, %cst_20 : tensor<1x16x32x32xf32>, tensor<1x16x1x1xf32>) outs(%18 : tensor<1x16x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.subf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x16x32x32xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%23, %22 : tensor<1x16x32x32xf32>, tensor<1x16x1x1xf32>) outs(%18 : tensor<1x16x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.mulf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x16x32x32xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24, %cst_22 : tensor<1x16x32x32xf32>, tensor<1x16x1x1xf32>) outs(%18 : tensor<1x16x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.mulf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x16x32x32xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%25, %cst_23 : tensor<1x16x32x32xf32>, tensor<1x16x1x1xf32>) outs(%18 : tensor<1x16x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.addf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x16x32x32xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%26 : tensor<1x16x32x32xf32>) outs(%18 : tensor<1x16x32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %56 = arith.cmpf ugt, %in, %cst : f32
      %57 = arith.select %56, %in, %cst : f32
      linalg.yield %57 : f32
    } -> tensor<1x16x32x32xf32>
    %padded_37 = tensor.pad %27 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%arg1: index, %arg2: index, %arg3: index, %arg4: index):
      tensor.yield %cst : f32
    } : tensor<1x16x32x32xf32> to tensor<1x16x34x34xf32>
    %28 = tensor.empty() : tensor<1x16x16x16xf32>
    %broadcasted_38 = linalg.broadcast ins(%cst_5 : tensor<16xf32>) outs(%28 : tensor<1x16x16x16xf32>) dimensions = [0, 2, 3] 
    %29 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%padded_37, %cst_24 : tensor<1x16x34x34xf32>, tensor<16x3x3xf32>) outs(%broadcasted_38 : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_26 : tensor<1x16x1x1xf32>) outs(%20 : tensor<1x16x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %56 = arith.addf %in, %cst_12 : f32
      linalg.yield %56 : f32
    } -> tensor<1x16x1x1xf32>
    %31 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30 : tensor<1x16x1x1xf32>) outs(%20 : tensor<1x16x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %56 = math.rsqrt %in : f32
      linalg.yield %56 : f32
    } -> tensor<1x16x1x1xf32>
    %32 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%29, %cst_25 : tensor<1x16x16x16xf32>, tensor<1x16x1x1xf32>) outs(%28 : tensor<1x16x16x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.subf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x16x16x16xf32>
    %33 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32, %31 : tensor<1x16x16x16xf32>, tensor<1x16x1x1xf32>) outs(%28 : tensor<1x16x16x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.mulf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x16x16x16xf32>
    %34 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %cst_27 : tensor<1x16x16x16xf32>, tensor<1x16x1x1xf32>) outs(%28 : tensor<1x16x16x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.mulf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x16x16x16xf32>
    %35 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%34, %cst_28 : tensor<1x16x16x16xf32>, tensor<1x16x1x1xf32>) outs(%28 : tensor<1x16x16x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.addf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x16x16x16xf32>
    %36 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%35 : tensor<1x16x16x16xf32>) outs(%28 : tensor<1x16x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %56 = arith.cmpf ugt, %in, %cst : f32
      %57 = arith.select %56, %in, %cst : f32
      linalg.yield %57 : f32
    } -> tensor<1x16x16x16xf32>
    %37 = tensor.empty() : tensor<1x24x16x16xf32>
    %broadcasted_39 = linalg.broadcast ins(%cst_7 : tensor<24xf32>) outs(%37 : tensor<1x24x16x16xf32>) dimensions = [0, 2, 3] 
    %38 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%36, %cst_6 : tensor<1x16x16x16xf32>, tensor<24x16x1x1xf32>) outs(%broadcasted_39 : tensor<1x24x16x16xf32>) -> tensor<1x24x16x16xf32>
    %39 = tensor.empty() : tensor<1x24x1x1xf32>
    %40 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_30 : tensor<1x24x1x1xf32>) outs(%39 : tensor<1x24x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %56 = arith.addf %in, %cst_12 : f32
      linalg.yield %56 : f32
    } -> tensor<1x24x1x1xf32>
    %41 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%40 : tensor<1x24x1x1xf32>) outs(%39 : tensor<1x24x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %56 = math.rsqrt %in : f32
      linalg.yield %56 : f32
    } -> tensor<1x24x1x1xf32>
    %42 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%38, %cst_29 : tensor<1x24x16x16xf32>, tensor<1x24x1x1xf32>) outs(%37 : tensor<1x24x16x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.subf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x24x16x16xf32>
    %43 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%42, %41 : tensor<1x24x16x16xf32>, tensor<1x24x1x1xf32>) outs(%37 : tensor<1x24x16x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.mulf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x24x16x16xf32>
    %44 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%43, %cst_31 : tensor<1x24x16x16xf32>, tensor<1x24x1x1xf32>) outs(%37 : tensor<1x24x16x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.mulf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x24x16x16xf32>
    %45 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%44, %cst_32 : tensor<1x24x16x16xf32>, tensor<1x24x1x1xf32>) outs(%37 : tensor<1x24x16x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.addf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x24x16x16xf32>
    %46 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%45 : tensor<1x24x16x16xf32>) outs(%37 : tensor<1x24x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %56 = arith.cmpf ugt, %in, %cst : f32
      %57 = arith.select %56, %in, %cst : f32
      linalg.yield %57 : f32
    } -> tensor<1x24x16x16xf32>
    %47 = linalg.fill ins(%cst : f32) outs(%39 : tensor<1x24x1x1xf32>) -> tensor<1x24x1x1xf32>
    %48 = tensor.empty() : tensor<16x16xf32>
    %49 = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%46, %48 : tensor<1x24x16x16xf32>, tensor<16x16xf32>) outs(%47 : tensor<1x24x1x1xf32>) -> tensor<1x24x1x1xf32>
    %50 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%49 : tensor<1x24x1x1xf32>) outs(%39 : tensor<1x24x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %56 = arith.divf %in, %cst_33 : f32
      linalg.yield %56 : f32
    } -> tensor<1x24x1x1xf32>
    %collapsed = tensor.collapse_shape %50 [[0], [1, 2, 3]] : tensor<1x24x1x1xf32> into tensor<1x24xf32>
    %51 = tensor.empty() : tensor<24x10xf32>
    %transposed = linalg.transpose ins(%cst_8 : tensor<10x24xf32>) outs(%51 : tensor<24x10xf32>) permutation = [1, 0] 
    %52 = tensor.empty() : tensor<1x10xf32>
    %53 = linalg.fill ins(%cst : f32) outs(%52 : tensor<1x10xf32>) -> tensor<1x10xf32>
    %54 = linalg.matmul ins(%collapsed, %transposed : tensor<1x24xf32>, tensor<24x10xf32>) outs(%53 : tensor<1x10xf32>) -> tensor<1x10xf32>
    %55 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel"]} ins(%54, %cst_9 : tensor<1x10xf32>, tensor<10xf32>) outs(%52 : tensor<1x10xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %56 = arith.addf %in, %in_40 : f32
      linalg.yield %56 : f32
    } -> tensor<1x10xf32>
    return %55 : tensor<1x10xf32>
  }
}

