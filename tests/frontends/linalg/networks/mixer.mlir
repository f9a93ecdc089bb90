#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
module @jit_network {
  func.func public @main(%arg0: tensor<2x16x16x3xf32>) -> tensor<2x12xf32> {
    %cst = arith.constant 1.600000e+01 : f32
    %cst_0 = arith.constant 5.000000e-01 : f32
    %cst_1 = arith.constant 0.797884583 : f32
    %cst_2 = arith.constant 4.471500e-02 : f32
    %cst_3 = arith.constant 1.000000e+00 : f32
    %cst_4 = arith.constant 9.99999997E-7 : f32
    %cst_5 = arith.constant 1.200000e+01 : f32
    %cst_6 = arith.constant 0.000000e+00 : f32
    %cst_7 = arith.constant dense<"0x2463003E678B22BE00CD08BF6C9566BE356B563D22736FBE18FA973D3598BCBE3A7600BDFB69883EE3E8CD3D2CFC2DBEEF130B3E8228DABC899CFFBDB45E663E3A949B3D4BACC8BEA94803BE95FA9D3E22D3BCBC6FBDCA3E67551A3E4247423EE286AABEC786C3BDB6769A3E6B9B8C3E46BE203D36EA07BE7FDC37BEAA085FBD2F19AFBC7DD748BEF56447BE7F25E83D67CA813E7EE2A93DE129BF3CC3DF8B3E501C76BE323205BDC9B4A2BD4583D6BDDE8344BEB1DC4C3E5940F23DF8E23DBDBAD89C3E9AFA98BE848D19BD90C83FBEF4B6AB3EA82C13BDE9587F3DEAD590BD111F613EBE72E03DF32EC73DC3BB003DA2F92F3ECF4CD23D7E7EFE3DF43192BE17007A3EB67C5F3E71460E3E83F465BDD094103CF4DD5ABE87A1C3BD1B3BCD3E2CEFB8BCF51DE0BDCA72743D473BBDBCD56D58BEEC28CC3DECEAADBDC5DA543CCC28753E667A623D378A8A3EF396E03D5EA306BE922A1ABE28D39D3C279651BE45CFBC3D1E619A3E157C2BBD79D1B5BCBB70C43EF7DE363E886DEC3D1961473E4973133D3194A13E22A5413E7E13F0BEDF921C3EBAC3A83D4B5F9ABE78976A3EF72016BC84AEE1BDBE7DD3BE01342EBB1022153B8C91003EBC7F4D3DB6776DBBC9201CBE02847CBD06EEE63D2419ACBE3327CFBD697123B944FBF6BB314E0B3EB164BA3ED85B81BD65073EBDCFC59FBD3301DABE766A773E93578A3D991E113EC906013C6AE62F3E274E3BBD4748113E35BAFABDC2327A3EF6076BBEE3B9103ECD5C5D3D13C42A3EDB2B51BD08700EBECC14D7BD85E15DBD0528D9BC9CB941BE1BAC70BDBCB1BCBE9EE89CBDC28E10BD7D5AC83EA191A23E29BC7B3E1A421D3E4BADC2BB48F1ACBE581A88BD6986A7BDBAE914BE46C5383EC9694CBD3C3B20BE57BDA7BEDC5B8D3E0143483EB6AD0DBC48BCB23D3591A2BC6FDD183E79588A3D4034B1BDC0C1F8BD791D81BEE27B8ABDB2FA6B3EDB28B5BEA4C2BE3DEFFCBB3D4214F9BD8943A1BE2D81F7BD3B64F5BDCC2CE83DDB79CD3DF4AB64BD7607F03D478927BE55E5023C2F97643EF50D83BD108978BC54538ABE83041ABD3AC9C53D7967C2BD1878953E1CDA053EE3A0813C2774423E937C7C3EA0C87F3E8EDB49BE175D0EBE0E0FA63B80CA15BE5EBBC93EED2BC0BEBF31263D2B6E96BEEA355DBEB993843E38B4BDBC99D2C63C0F04C23D7C06C1BDE867F33D550FF93DF743043B7E5C93BDC5FF2F3DC751443ECB6DFDBC40BA81BCF0E287BEFEC9333EDB9EFFBD55463E3ECAAED73D3C6E823EDDAAAF3DCD9534BEB98EF03EB4387F3E0D5D893BF33B07BEA85257BE35A59F3E668237BD76F48B3D874A303EB6DA833DB9F2DE3DD9ACC0BC6328163EDAA6543E6A4D8DBCB717923D720A87BDD47C663D8B008B3ECC36A03DD9A48FBDF61F1FBCD4A358BE768351BDB49F843E6DF1A03E92DBB0BEFED1153EF83A383D5B4DACBEFC95B03DDE929F3DAD49063EA32080BE1007C3BD6681B33DF97AA3BE3804993E7CC1933D84F6BDBD47338A3EF420783E9A0899BDC5D53DBED330213EF8CE0B3F5A64503D424590BD3FA062BE2871213E7F1081BE02EE013E77FDD53DC00D4F3D8BBD4EBDC3F0D53E5D13833C17DEBC3EF8BEFF3DC4CC8C3E3C2BB9BD484AD63DB8784F3C0C5D1EBD7A4376BE76E4C43CC4B7E43EE146BA3E902CCEBC0113C83E5928203D0AA122BE702724BC9587D43D29BF1D3E57982B3D41C2F63BB191013E992DE33C8A944DBECE60C8BC7077383BFBA5B4BD9B02BB3D55B2FC3CA6D001BEDC7A843E872D9ABDB8554F3D6670B2BCFE4516BE7298E53DE9044B3DDD9B163E134BC43EC8667A3C7E5322BDC68312BF1E58DC3DD14706BEF0C917BE7CACE7BD32C7BB3D8CFC5BBD77FC4DBDE3E77ABD6434B2BB8E0682BD170A13BEE62B5BBE2A23413E9562C73D34CBF0BB444007BEE305B03EE05DA5BD9E65093E77F475BE34235D3EA4C10E3ECFBF33BE6D46883C253752BE1D4B82BDD34F83BE39031C3D7ABA4F3E358105BED46C9FBD8B1B803D6C6AB6BE6EBFCA3C7B3BC2BD8AEBB93B42EF0BBF2C715CBECE5389BDB1141B3E051088BE41AB89BE4DF284BD3505D7BDF83C3D3D59BD1FBEB8AE263CE9D254BED382013C9462353EA883F7BD2746D1BD2BEF8D3E300332BEB7D85EBE9436A7BEB91232BE06A5E6BC9A8EC7BD9529DC3EB2F12CBEEEBD46BED6C1F2BC1C24693E6912C3BDB080DC3C1FBC053D5B1ABBBD844D75BCC97576BED9EC02BF3F89C0BD7B752E3E8FA984BC57555BBEF9BD7BBDEFDB803EF3194FBE322DF33B789E613C09C7323EF51508BECB7C6B3ECEDDC3BD21FA0D3E608B543E834CAE3E92ACB33EB95349BE8D13933E3A469CBEE5F1D9BD1BF1583DD58187BE0ACF493CC244C93DC7E6313EF0BA0EBDADE47E3EAB7B1F3CBB942B3E72074F3E6A76BD3E9F3BA6BC5832E73D34E29BBCB2A312BDB5BE2BBE9A7E4C3EE6EA41BE562E79BE10DF05BDEAF5E0BD6709EA3E5B9B553DEAD4E13E825190BE34A812BE7BCF8A3ECD8701BE28840ABEEC7CD93D41910FBE891410BE69671E3E12A968BDEBF5E23CB2D56A3EAC237F3E1DD12F3E8746CC3EE4D894BDB7CF3CBE8E4BBA3E68A29B3DCC3958BD5130DABE858A593ED0152E3EF0E313BEF90DA33DAC293E3ED09788BEB3621A3ECC59373DBE6C39BE9990A3BD4D52A8BD1E020EBE46848FBDE784C1BE576F13BD9936B93E2C4D8D3DB9A00EBE2850C33D7784063EABC4CB3DD8EB5E3E791D4CBE5B20503E4CC371BECAAC063DCB65A3BE227A503DB65DB0BE33A01A3D375C123F7A72B5BE43BFAF3CC24F273D28E014BC19F1F73DA2098FBE0FA6A43EF25ECE3DAD840D3EDA9B74BC98272A3E09848BBE87553B3E865EF7BD7B86923D58B2133EB5AE133E767F333E6375B33DEB3E88BE22CA5C3E6857843D31D76E3D8B9C8DBE0A36C9BB4B10C93D9A17B43DDF6C133DE36F663E88D956BEB9C684BE5D54C4BEB5954F3D9411D93D3072223D06D4E73C3213D1BE3366C33D48F57EBD302FB23E01D97EBEA6AE61BEFC12903D0726BEBE111722BE62D18F3EAB60B43DA373A5BD3CCAB63E89B4A83DD8AB5E3D777BDCBDC445853EC304ABBE6CC8803E774C443E0D4F0A3C986CCF3E7406633D21408F3DB23B2EBEBC19BFBDE776FC3DCB64F83DDDD0853DFC9A743D0364833E73F03CBD53589B3DCE149DBE00782E3EABF25CBD956CA53E3030FC3D6427BF3D3F39B8BEAA5C99BE5F51B3BC8A1006BE8EB9D9BDC8D796BD"> : tensor<4x4x3x12xf32>
    %cst_8 = arith.constant dense<"0xAAE72EBE5933323EEA81AA3D74CCA13E2CB14EBED6E6D83EEB41E2BD89361F3D57D7C73E82F75E3ED4F79DBE07D82F3ED3509D3EA845B53D68EA073EC30345BE9B86D4BBEE7CC9BD7AEF88BE52F024BED907B6BD530A2CBECD2C1DBED9960EBEBCE98D3E4FFD943E1454F73EDEF01CBE57AF913DA79FC53CEF15E5BDC57E22BEF74D3B3ED0E8453E64DFD13E62D865BEF0A7913E6C6DD4BDDCCE54BE06DD363E37C03FBCD1D3A63E222AB9BEE5B26C3ECE1545BE98FE15BEDBFBD2BE3AE8F63D5854A3BDE307803EB07B623DF8AD47BEF36054BEE1B465BE6EC787BEBDECCC3DF99D61BEC11BFABDC31A213AA39B61BD034E683C6F940F3E9933C73D653662BEB98736BBB63398BE06DF75BDBDA8B03D187990BD5C1BB33DA5198F3EB0B78F3E5CFCE0BEB3540CBE962CD2BCC578593E037D9FBDE07AB13E389FFA3DAAA435BED97333BE747B1EBED43DA9BE382563BDB7228F3E7781AC3D87DA773EB62CFABD1B6429BE3B8AAABD7F8F39BE922BC93ED14768BD8731503EACF9833D6F42E6BD0D28503E50FAEA3D4D9E9B3D63C349BB79FA613D3726E73D4A83B13EB62B62BDC05BB8BDBC7E6ABE2BDAC1BCBF73923DB387B83E581760BEB813D5BED19ADDBD34A35ABDED4514BE8F41E93EEBC312BF5CE565BE35DDDCBDE0ACB73D618C203E6D63253C0784F03DCB5285BD275CACBEAC803B3A81AF61BEBE1FEABEC59230BEA27FAABD0A3AB5BB5D3D073A3232B63C78BBA03E2792603DD882553DE624943EFD876D3EDFB92ABEB044A13DE82C22BE73F8103CBD599C3ECBB3D03C310290BD06A787BE5BF09F3D0DA593BCB3112A3E9C67173E9C841E3EF355713E56DCE9BC45848C3E2C44AABEBE856C3EC2EB5BBEC6BCB4BE2D0735BDF1826ABD93C53A3E4CBD1EBE5FDF76BEFF46D33C39D3C43D1B102BBE93AECD3C96E774BE5EEECE3C2E04C9BB348DFFBE6FC3C23D084D1CBDA99249BED770C03E76C3BF3DB46AB6BD662EFCBD7F09553DF1BC2F3E4F83D13C9DBEE63D47E842BE93942FBD138A533E5793BF3C78D9F73DA5A968BD2B6E853EB2B705BE29B324BE3EE086BEAF43733D1E32DEBC04612C3E2E05C2BD8170A1BEFD0E0B3C4F5837BEA30606BEF345583EDB4AB93DF2EFBCBD49E3FFBBD4D074BECF528CBE3163E13D21686B3E1C35A33D527057BEACE6D0BC15E69EBC81BF4BBC7B8B88BE09A1BD3DA45D23BDEC2F66BEEDB5BDBE1EDE79BE4FEC20BE2233393D02E21D3ECFE89FBEAE59083E6F60223E3DA91BBE0CAB1DBE1388BE3E244246BDF707F43D161191BD4DD672BD3BFD97BEB70139BD072D72BEDCFA44BEA67DC63D980AE3BDA2CFDC3E6EBD58BDEF8F253ED9C5963DBEEE95BEFD4EE6BEB04AACBE259A25BD85B85B3EB52005BE7686F93C4042073DCD70073F4239E2BDD0AED6BD7F3348BC9010D23C0D9EECBE581299BB0179F8BDBDF8FCBC44FB49BE8672243E12B3583E6D1CE03DD9B3323EF08336BEA08232BE0DAEFCBD20780F3E02C7403EEA3D393EB803093DFB2A683D97EB283E5D720EBEC80093BDF49FA13D7795A03E3249003EF8E8D2BBBF82CBBD7003E93C77FA0BBFCD8F123EC348C73DA1A62EBE7EF0893D3C204B3CD51B53BED0538C3E3FD90E3D115D55BEA43FDE3E8F2814BC7AA709BE011B193E9287363E51DA803D66D814BF58A033BC78D272BCA8D3AEBC982FFF3D5A5B4C3D648346BD8FBF95BE35820A3E800F4DBD090D043D50976D3E102F2E3EDD171C3D349A37BEA8CF2DBEBB0B85BE4E44E3BDAE13B63EA7DC9CBC19E9CCBBE2C95F3CA92EEC3DB9D4733E"> : tensor<16x20xf32>
    %cst_9 = arith.constant dense<"0xE4322BBD0B0A253E2AEE1E3F91C500BF95097ABDBB6D6EBCA2A0E03BE4D4203D528006BE9806213F087C77BD7080383D486B35BD5B97DA3D7A81D93D70BF7D3DECDC903EF663E5BC0BD44E3ED5C296BE4EBB503E6755DD3D646DEC3DB218E63CAAB485BD9511F0BEEE10E8BD54DB4DBDA6541DBE086DAA3DC9E697BD3889DC3DD550F2BDD14FBC3D1CB28C3C4DEB02BD628C65BE4D2E853EF92599BDB1EF7BBE7E09893E65312DBEA25336BE7D55043D31B492BEEC0108BEF95EB8BEE077C2BE3E1C22BB6F792CBDCD6B803E94C4B83E5BEB5F3D0BA3A83D385E73BE173CBABD8556A13CFD34493E4C24FA3D155F0ABDA03E19BDACC627BE308290BE7FBE39BE8FA357BC5177353DEDC433BDDEB06C3D3224B93E95AC303DE92E7BBD2856B6BC9963CEBE7D10E43DD4FD3B3D0CFF473D6E3B36BE617325BEA67C90BE594F093C5C83113F938AB63D1D06D13EABC124BE52CCF53C9AD9513E4F34773ECC95B4BE4C61C5BD1999483E4687A83E8C180DBEB0B424BEA5FE92BE683104BD03F418BE7240AE3EB542903EA80D1B3DC184893E4E96193E1B78293CFC58153E1A58173E69E0A33B42B100BEB7B236BDFB5E2F3D869E893EEB9400BEBBF301BDFD1C753EB02FCDBD338B413EA99752BEC6FB8DBDD95B45BD658F933E6EED913CD23580BE634480BEDA7CC93E3408DD3DC9B9B9BD11F42B3E96ED0ABEDAA79C3DADB501BE2525D43C7AFE72BE84309E3DCE5B573E504614BD2EE3F13D5BC01BBE86A452BD6C69223D83FA2A3EA5F9603C33BDCBBDF0E96ABE6699E1BCD0A86DBE3387243E53BDB6BEA47D3C3D2F3C4BBD142F6EBD11F9B8BB5715023E97A77D3D818089BE829A573E412552BE8F5C41BD9271EC3DB962C6BC7B7C3BBE6D9917BE9C60C5BD7F41953E19FB88BEBEDD563ECE7188BE4A7ED8BD122AC83D42D420BEA7419DBCAB2F76BDB14544BEA64BA83E0BAB0EBD63859D3EF266D9BEF0975D3EE45F76BB3773D7BC2893643EBC6E3A3EFDDF7E3EE643293E876B4DBD89DDB6BD283CD4BDEE886EBE3CCB4E3E20E4233E82D5853DD2FBA6BD6C3F22BE05C9A6BD6A9036BDFBB2D23DC3D6033E7BD8A0BE44B88C3C2B81FC3C8C4E7A3D872A58BE55B1443D0B6785BD0D1DD03D0022933DA1D60D3E6214983E9684C43DA24AEB3D22FD3F3EEF6B29BEA528CEBDDCFABEBB604A84BD60D9A43E9248223C40407ABE1B5DA9BEB425083F26D415BB9C394D3E6673083E759DB53EC47A33BC158FF3BEF55F80BEF8DA2BBD235FEEBD4CCCFD3DB391C4BDFF25C13EA24D00BE820DA73DB2709ABEFB2E4D3E6B4BA2BE473FB13CE35908BD4DB883BE7F7233BE013BAA3DC29E09BE887CE93D480CC4BD1068643DE3F7FCBD0DC3223E9671B2BD097A79BE21F7673D9AB74D3EF36F0ABE6D37AEBCFA5C93BDFEEA453E071C09BEABE528BE847310BE8B13253E443217BD9861333E2E1531BDAE4F1C3B957539BEE22AC4BCBFC49EBED075CA3C04184FBE5580D33B034EE13CFCCAE53D7B2B9FBC76A3BBBD4018E33ECF30873EB4B09C3D976751BE87CEC73D399438BE56383E3E5BBC70BD1145D2BCA6E6B03EE771843E2013C43D097541BDCDBD74BEBA03453E9C8F18BCA6EF12BC2920D1BEA08E60BE4F53CCBE477F5C3CC587C2BCB666BBBE714641BCA45E37BE52D6F9BEAC34D43D1F65C33EB93505BE584BFF3DFFDFDBBB2874A7BD1D53DA3E778571BE70BE073E15F884BEE1D161BEAF9A123E2BC64BBEF6825EBBF24CDEBD3846323DC68914BE3B1DC53DB1CA3DBE9D8FE1BB161192BD6E0B68BE5A918CBE"> : tensor<20x16xf32>
    %cst_10 = arith.constant dense<"0x3B0500BE1160F3BE4191EC3E132C3B3E5807AF3D3520AF3E92EBE2BED8820F3E687BA1BE1E06883D1C074EBCFFBDA6BEAEE7073ED7A4673E626D5E3D85D1113D7263063DADC288BEF57A37BC7217113E9B23773D3ACD9F3E08071F3DAB7E39BE9EF0A83D467A053EF223C0BDA511F63D31B6273E4CD2EFBD8C38253E31D34F3E8AFD72BE6D8BB6BBB08C1E3E8288A33C3DB0203E1EDFB7BD86687FBE1BE5D03CDCEFC9BE8E51613D4DF4983E3CC59E3D2786A9BD1474FBBD369BE7BB4499D33ECC86213EE80CB9BC6E6192BDF9EB263DA9ACBD3E23FC4EBE969B0DBE49E2D9BD47324DBC4875873D5936C73E5E580E3EA061A8BE91C08DBEC25848BD6EFA2C3C69169D3D200808BEF18350BDF2C36CBEAFD050BEC1DB72BCD6CF4A3E765484BEFB025C3EFE1854BD2B3332BE9197133E1EFD6EBD310F163DA1E31CBDE36510BDAFC11ABDE132D83D9E9A29BE46AB823E3B1D383E39A6123E1979A33D621C353DE6A37F3EF972303E661A583D339DA23D5B4CA23E6AA2A73E9B60953EAD3205BD3138973E25FE41BD4A0D383E1023FB3DBB56DABB6D8A0C3E89CE243E819744BDFD63F53C0F0940BE9E66023F39901CBE11A7C23D168FD63CF60E553ECF17CABD25144E3EAFBF8D3ECC258D3DF0C284BD8527003E5E876BBE54D4073DFAF5863EEF162F3DFC10E5BE050313BE527404BC62BDA7BD66F1C2BE39B27CBE447D223EF7AB1F3C38E506BF9FB1493ED39E3DBDD93FB9BC591C85BE678CBF3DDB2E14BE368B86BD2D796CBE4313DFBEC05F863EAB1260BE8D7E21BE834059BC284A103E69ABEEBD5F2BC93D21BDBA3EF905A43DEB7806BEAEBD6B3EA6E132BED515B0BD6EABE13D1315AF3DDB899FBE384DD13EF831FC3DB434873E01C5B83A1B87983E5CDFECBD9BBB37BC850FFABBCC171B3E96398CBE9EA1323E00358EBDE7EEECBDFE536D3DB5B7C8BE4D9BF43DA7CD2BBE9262A83D0A21D43D47AD203F176708BF2EC139BEC5E4C73E4F3848BE320C21BDAFDD56BD1D6701BEF8E6C83E885973B89E51B3BDD4D98C3E33F6C4BD1B63C5BC55871EBD80D2BB3E1D99B5BD980088BE3776063E92DE4EBE56460DBE20F5723D70028DBDE43C80BE9D8EA6BB59F568BE1782D53C479E70BE356E97BD63FBB63E54ED30BE77D7753B3140583ECF21623E2D9B053EB94E0BBC5D9D6F3E109CA5BD2EDFD23E997E2C3D314FA0BE3E5BFC3EF3CFBBBDC3B0B53DE9273D3ED120543E496C17BED8C5D8BD03F68C3CE2BF183FC2C4C03D4D2C06BC0D68493D4420443EE4F4B63E92FDC4BC10E8FBBDAF11F3BDB0F2EEBDB16B363E60E1CB3DD207123EAB64B33E5DD936BD5C0B613E1908BE3D6710B9BD32E6C6BDF63E81BD2FBA9D3CEB71423E32C9523EBC9B823DC89F583E76DC5B3D2D968F3D5E70C9BCED0ECD3E3A50A73EFF3BC9BDEE5E323E3AD2443DDDCD39BDEA95173E62E7133D01F2023D996939BD604999BC526E8ABEDCB107BE8D0586BCFD1A343E5A42A43E5B54933D43ED72BE8A8115BE188EAF3D314DCABD055161BE64EC7BBD57503FBBDD31A83DC0763DBEE5AAE7BCBCFF013ED2580D3E3196683E76B8D73D2BD4B73C3055DB3ECEE71CBC469BA83ED71AD5BD475D6D3E"> : tensor<12x24xf32>
    %cst_11 = arith.constant dense<"0xCE9794BEC4141A3EF81205BEA16581BDAD6A54BD8976F8BD07560DBF54B4C83E67749DBD40858DBE880E783E549BAA3ED38459BC400A2BBDA7777BBE1C2AA23D328C4EBED780C43ED06104BDE77DDA3D163433BE217BF1BD9F8F9D3DD1DC5CBE01852D3E37C424BEB7567C3DEECE3BBE20AB393EE72D94BEF0A168BC5C05BCBCF229C3BEA89B22BE030FCC3CDF4260BE58C169BD47470BBF2C1A463C477B43BEF39071BEC5F023BE4259A6BDE14AE5BDF1157D3D609B353EDCCBB43D2FA346BD2E44793EBC4B43BE9C9BB0BD302519BF34CB9FBB3877D4BD99F4673E639FC4BD8F27FBBD0DF2EA3ECE3AAB3D7D8821BE3F5FA1BE598D89BEBA62653EBBF6183B5633D33D1432863D3B6809BEBA89F1BD07681F3E20C567BD5C5093BD91C269BD0B17573CA6BD883EB383963D7259393EB13458BEA9FE48BE0E477F3E4E60BA3D222D773D845823BD30A6A03E4AC9963D92899FBDD8FFA1BD857464BD1A9D353EA072033EE3C0E33D5F71C33E60ECBE3D9878953CE1FA0F3EE765F93DDB8EA9BE432F50BEC05B1E3E7F23333E9C5147BD6EB0B2BD88D385BEDF9EF83CDADD873DD9B7093E4CD89FBDAAF3E7BD81174B3E09FEB6BC1ABABB3C7F63A6BE4F89C2BDEBA9863EF703893E62C94DBDD31EC23D3DC6633C9D16D53E38BA02BF87AA77BC498927BFEF47193EFF04A13E89DEAFBC2CEBFA3CF3E9D13DCCD0753EC444DABEFE8C8DBDFD50813D2B019DBDD52007BE942438BEC4DE6CBDAED9423DBE276E3E6135A53C5AF339BE5187D33CEC74593E89B4DDBDE63D8BBC5F9F1E3E8533FCBD2365F4BC3C83A93BEDD3D03D80C2C7BE916D483D65A9AABDE25790BCDC894C3ECBBEE03D8BFDE53E2DA3D13D651AC8BE70F7F8BD9E4B9B3DC25AA03C89F1803E7F2DBDBEB339AF3D9EBFD33C72E22F3DB6691CBD619154BD37F392BE5AD0B83EB9D046BE954F4C3EE6C82EBDBD9007BDFEB3BF3E530920BD6EE26A3E923BBDBC655EF03D0BC5A0BDE29F50BEB50C13BE2A80243EB283BC3DC5FB8D3D3CE721BD72C7393D7043373ED41C1B3DF71C2B3DBA228FBE1E28FDBD0ADE0BBE31A833BEA4234D3DE46EB93E250E8A3EBCB1DE3D989048BEB01AF83DE6CAA73E9BE05DBE5CA222BE842B06BFC0D39DBE7E35C73E2ED0C73E3E01253E7AC2A83D3F3FE0BDF9312E3E8E1214BD314BCC3E83094B3E1014573EDBAA123DB73BFCBD5088783E89A59FBDCC9E86BE44EF7F3EC8432B3EDB5A173BAAAECA3DB657043F71E3EFBEDA9F66BC1B8DB83D9AE65EBD9CD027BE33DE9C3EF643ED3EB13B4E3EEC8D873EE2780CBE70614EBD5D279B3DD8D62F3ECC6D4EBD574A8C3EE9C39E3D97443C3E9102A53E3798023EB9B732BE523679BEC663F4BD233486BC60CF16BC6D77ADBD4DFE713D65E6AF3C8759E83D03FEB2BD8943693EA4BEE9BE525E8D3D193B8F3C8110F63D0F1AB73E514E3D3EC291343D02F7A8BD7D530A3EB9D230BD9C4AAFBDCFEA6F3EE00C673DCE3AAB3DB795AD3BE8312ABE0E72D0BE58D1CE3DE45F0C3ECE7D3B3D94675BBE7960BFBD5C9F3DBCF37593BE1F34EEBC9A50253D9B8B1ABB85DF71BE3D6386BD93B80EBEC21F81BE793E8ABE69F381BCB67E19BE29F9CF3E"> : tensor<24x12xf32>
    %0 = tensor.empty() : tensor<2x4x4x12xf32>
    %1 = linalg.fill ins(%cst_6 : f32) outs(%0 : tensor<2x4x4x12xf32>) -> tensor<2x4x4x12xf32>
    %2 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<4> : tensor<2xi64>} ins(%arg0, %cst_7 : tensor<2x16x16x3xf32>, tensor<4x4x3x12xf32>) outs(%1 : tensor<2x4x4x12xf32>) -> tensor<2x4x4x12xf32>
    %collapsed = tensor.collapse_shape %2 [[0], [1, 2], [3]] : tensor<2x4x4x12xf32> into tensor<2x16x12xf32>
    %3 = tensor.empty() : tensor<2x16xf32>
    %4 = linalg.fill ins(%cst_6 : f32) outs(%3 : tensor<2x16xf32>) -> tensor<2x16xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%collapsed : tensor<2x16x12xf32>) outs(%4 : tensor<2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.addf %out, %in : f32
      linalg.yield %116 : f32
    } -> tensor<2x16xf32>
    %expanded = tensor.expand_shape %5 [[0], [1, 2]] output_shape [2, 16, 1] : tensor<2x16xf32> into tensor<2x16x1xf32>
    %6 = tensor.empty() : tensor<2x16x1xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x16x1xf32>) outs(%6 : tensor<2x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.divf %in, %cst_5 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x1xf32>
    %8 = tensor.empty() : tensor<2x16x12xf32>
    %9 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7 : tensor<2x16x1xf32>) outs(%8 : tensor<2x16x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x16x12xf32>
    %10 = tensor.empty() : tensor<2x16x12xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed, %9 : tensor<2x16x12xf32>, tensor<2x16x12xf32>) outs(%10 : tensor<2x16x12xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %116 = arith.subf %in, %in_23 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x12xf32>
    %12 = tensor.empty() : tensor<2x16x12xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<2x16x12xf32>) outs(%12 : tensor<2x16x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.mulf %in, %in : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x12xf32>
    %14 = tensor.empty() : tensor<2x16xf32>
    %15 = linalg.fill ins(%cst_6 : f32) outs(%14 : tensor<2x16xf32>) -> tensor<2x16xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%13 : tensor<2x16x12xf32>) outs(%15 : tensor<2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.addf %out, %in : f32
      linalg.yield %116 : f32
    } -> tensor<2x16xf32>
    %expanded_12 = tensor.expand_shape %16 [[0], [1, 2]] output_shape [2, 16, 1] : tensor<2x16xf32> into tensor<2x16x1xf32>
    %17 = tensor.empty() : tensor<2x16x1xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_12 : tensor<2x16x1xf32>) outs(%17 : tensor<2x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.divf %in, %cst_5 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x1xf32>
    %19 = tensor.empty() : tensor<2x16x1xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18 : tensor<2x16x1xf32>) outs(%19 : tensor<2x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.addf %in, %cst_4 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x1xf32>
    %21 = tensor.empty() : tensor<2x16x1xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20 : tensor<2x16x1xf32>) outs(%21 : tensor<2x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = math.rsqrt %in : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x1xf32>
    %23 = tensor.empty() : tensor<2x16x12xf32>
    %24 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22 : tensor<2x16x1xf32>) outs(%23 : tensor<2x16x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x16x12xf32>
    %25 = tensor.empty() : tensor<2x16x12xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11, %24 : tensor<2x16x12xf32>, tensor<2x16x12xf32>) outs(%25 : tensor<2x16x12xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %116 = arith.mulf %in, %in_23 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x12xf32>
    %27 = tensor.empty() : tensor<2x16x12xf32>
    %28 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26 : tensor<2x16x12xf32>) outs(%27 : tensor<2x16x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.addf %in, %cst_6 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x12xf32>
    %29 = tensor.empty() : tensor<2x12x16xf32>
    %30 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28 : tensor<2x16x12xf32>) outs(%29 : tensor<2x12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x12x16xf32>
    %collapsed_13 = tensor.collapse_shape %30 [[0, 1], [2]] : tensor<2x12x16xf32> into tensor<24x16xf32>
    %31 = tensor.empty() : tensor<24x20xf32>
    %32 = linalg.fill ins(%cst_6 : f32) outs(%31 : tensor<24x20xf32>) -> tensor<24x20xf32>
    %33 = linalg.matmul ins(%collapsed_13, %cst_8 : tensor<24x16xf32>, tensor<16x20xf32>) outs(%32 : tensor<24x20xf32>) -> tensor<24x20xf32>
    %expanded_14 = tensor.expand_shape %33 [[0, 1], [2]] output_shape [2, 12, 20] : tensor<24x20xf32> into tensor<2x12x20xf32>
    %34 = tensor.empty() : tensor<2x12x20xf32>
    %35 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_14 : tensor<2x12x20xf32>) outs(%34 : tensor<2x12x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.mulf %in, %in : f32
      linalg.yield %116 : f32
    } -> tensor<2x12x20xf32>
    %36 = tensor.empty() : tensor<2x12x20xf32>
    %37 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35, %expanded_14 : tensor<2x12x20xf32>, tensor<2x12x20xf32>) outs(%36 : tensor<2x12x20xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %116 = arith.mulf %in, %in_23 : f32
      linalg.yield %116 : f32
    } -> tensor<2x12x20xf32>
    %38 = tensor.empty() : tensor<2x12x20xf32>
    %39 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%37 : tensor<2x12x20xf32>) outs(%38 : tensor<2x12x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.mulf %in, %cst_2 : f32
      linalg.yield %116 : f32
    } -> tensor<2x12x20xf32>
    %40 = tensor.empty() : tensor<2x12x20xf32>
    %41 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_14, %39 : tensor<2x12x20xf32>, tensor<2x12x20xf32>) outs(%40 : tensor<2x12x20xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %116 = arith.addf %in, %in_23 : f32
      linalg.yield %116 : f32
    } -> tensor<2x12x20xf32>
    %42 = tensor.empty() : tensor<2x12x20xf32>
    %43 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%41 : tensor<2x12x20xf32>) outs(%42 : tensor<2x12x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.mulf %in, %cst_1 : f32
      linalg.yield %116 : f32
    } -> tensor<2x12x20xf32>
    %44 = tensor.empty() : tensor<2x12x20xf32>
    %45 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%43 : tensor<2x12x20xf32>) outs(%44 : tensor<2x12x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = math.tanh %in : f32
      linalg.yield %116 : f32
    } -> tensor<2x12x20xf32>
    %46 = tensor.empty() : tensor<2x12x20xf32>
    %47 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45 : tensor<2x12x20xf32>) outs(%46 : tensor<2x12x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.addf %in, %cst_3 : f32
      linalg.yield %116 : f32
    } -> tensor<2x12x20xf32>
    %48 = tensor.empty() : tensor<2x12x20xf32>
    %49 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47 : tensor<2x12x20xf32>) outs(%48 : tensor<2x12x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.mulf %in, %cst_0 : f32
      linalg.yield %116 : f32
    } -> tensor<2x12x20xf32>
    %50 = tensor.empty() : tensor<2x12x20xf32>
    %51 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_14, %49 : tensor<2x12x20xf32>, tensor<2x12x20xf32>) outs(%50 : tensor<2x12x20xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %116 = arith.mulf %in, %in_23 : f32
      linalg.yield %116 : f32
    } -> tensor<2x12x20xf32>
    %collapsed_15 = tensor.collapse_shape %51 [[0, 1], [2]] : tensor<2x12x20xf32> into tensor<24x20xf32>
    %52 = tensor.empty() : tensor<24x16xf32>
    %53 = linalg.fill ins(%cst_6 : f32) outs(%52 : tensor<24x16xf32>) -> tensor<24x16xf32>
    %54 = linalg.matmul ins(%collapsed_15, %cst_9 : tensor<24x20xf32>, tensor<20x16xf32>) outs(%53 : tensor<24x16xf32>) -> tensor<24x16xf32>
    %expanded_16 = tensor.expand_shape %54 [[0, 1], [2]] output_shape [2, 12, 16] : tensor<24x16xf32> into tensor<2x12x16xf32>
    %55 = tensor.empty() : tensor<2x16x12xf32>
    %56 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_16 : tensor<2x12x16xf32>) outs(%55 : tensor<2x16x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x16x12xf32>
    %57 = tensor.empty() : tensor<2x16x12xf32>
    %58 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed, %56 : tensor<2x16x12xf32>, tensor<2x16x12xf32>) outs(%57 : tensor<2x16x12xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %116 = arith.addf %in, %in_23 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x12xf32>
    %59 = tensor.empty() : tensor<2x16xf32>
    %60 = linalg.fill ins(%cst_6 : f32) outs(%59 : tensor<2x16xf32>) -> tensor<2x16xf32>
    %61 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%58 : tensor<2x16x12xf32>) outs(%60 : tensor<2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.addf %out, %in : f32
      linalg.yield %116 : f32
    } -> tensor<2x16xf32>
    %expanded_17 = tensor.expand_shape %61 [[0], [1, 2]] output_shape [2, 16, 1] : tensor<2x16xf32> into tensor<2x16x1xf32>
    %62 = tensor.empty() : tensor<2x16x1xf32>
    %63 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_17 : tensor<2x16x1xf32>) outs(%62 : tensor<2x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.divf %in, %cst_5 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x1xf32>
    %64 = tensor.empty() : tensor<2x16x12xf32>
    %65 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63 : tensor<2x16x1xf32>) outs(%64 : tensor<2x16x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x16x12xf32>
    %66 = tensor.empty() : tensor<2x16x12xf32>
    %67 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58, %65 : tensor<2x16x12xf32>, tensor<2x16x12xf32>) outs(%66 : tensor<2x16x12xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %116 = arith.subf %in, %in_23 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x12xf32>
    %68 = tensor.empty() : tensor<2x16x12xf32>
    %69 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67 : tensor<2x16x12xf32>) outs(%68 : tensor<2x16x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.mulf %in, %in : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x12xf32>
    %70 = tensor.empty() : tensor<2x16xf32>
    %71 = linalg.fill ins(%cst_6 : f32) outs(%70 : tensor<2x16xf32>) -> tensor<2x16xf32>
    %72 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%69 : tensor<2x16x12xf32>) outs(%71 : tensor<2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.addf %out, %in : f32
      linalg.yield %116 : f32
    } -> tensor<2x16xf32>
    %expanded_18 = tensor.expand_shape %72 [[0], [1, 2]] output_shape [2, 16, 1] : tensor<2x16xf32> into tensor<2x16x1xf32>
    %73 = tensor.empty() : tensor<2x16x1xf32>
    %74 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_18 : tensor<2x16x1xf32>) outs(%73 : tensor<2x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.divf %in, %cst_5 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x1xf32>
    %75 = tensor.empty() : tensor<2x16x1xf32>
    %76 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%74 : tensor<2x16x1xf32>) outs(%75 : tensor<2x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.addf %in, %cst_4 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x1xf32>
    %77 = tensor.empty() : tensor<2x16x1xf32>
    %78 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76 : tensor<2x16x1xf32>) outs(%77 : tensor<2x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = math.rsqrt %in : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x1xf32>
    %79 = tensor.empty() : tensor<2x16x12xf32>
    %80 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%78 : tensor<2x16x1xf32>) outs(%79 : tensor<2x16x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x16x12xf32>
    %81 = tensor.empty() : tensor<2x16x12xf32>
    %82 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67, %80 : tensor<2x16x12xf32>, tensor<2x16x12xf32>) outs(%81 : tensor<2x16x12xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %116 = arith.mulf %in, %in_23 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x12xf32>
    %83 = tensor.empty() : tensor<2x16x12xf32>
    %84 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82 : tensor<2x16x12xf32>) outs(%83 : tensor<2x16x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.addf %in, %cst_6 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x12xf32>
    %collapsed_19 = tensor.collapse_shape %84 [[0, 1], [2]] : tensor<2x16x12xf32> into tensor<32x12xf32>
    %85 = tensor.empty() : tensor<32x24xf32>
    %86 = linalg.fill ins(%cst_6 : f32) outs(%85 : tensor<32x24xf32>) -> tensor<32x24xf32>
    %87 = linalg.matmul ins(%collapsed_19, %cst_10 : tensor<32x12xf32>, tensor<12x24xf32>) outs(%86 : tensor<32x24xf32>) -> tensor<32x24xf32>
    %expanded_20 = tensor.expand_shape %87 [[0, 1], [2]] output_shape [2, 16, 24] : tensor<32x24xf32> into tensor<2x16x24xf32>
    %88 = tensor.empty() : tensor<2x16x24xf32>
    %89 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_20 : tensor<2x16x24xf32>) outs(%88 : tensor<2x16x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.mulf %in, %in : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x24xf32>
    %90 = tensor.empty() : tensor<2x16x24xf32>
    %91 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%89, %expanded_20 : tensor<2x16x24xf32>, tensor<2x16x24xf32>) outs(%90 : tensor<2x16x24xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %116 = arith.mulf %in, %in_23 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x24xf32>
    %92 = tensor.empty() : tensor<2x16x24xf32>
    %93 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%91 : tensor<2x16x24xf32>) outs(%92 : tensor<2x16x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.mulf %in, %cst_2 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x24xf32>
    %94 = tensor.empty() : tensor<2x16x24xf32>
    %95 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_20, %93 : tensor<2x16x24xf32>, tensor<2x16x24xf32>) outs(%94 : tensor<2x16x24xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %116 = arith.addf %in, %in_23 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x24xf32>
    %96 = tensor.empty() : tensor<2x16x24xf32>
    %97 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95 : tensor<2x16x24xf32>) outs(%96 : tensor<2x16x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.mulf %in, %cst_1 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x24xf32>
    %98 = tensor.empty() : tensor<2x16x24xf32>
    %99 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97 : tensor<2x16x24xf32>) outs(%98 : tensor<2x16x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = math.tanh %in : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x24xf32>
    %100 = tensor.empty() : tensor<2x16x24xf32>
    %101 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%99 : tensor<2x16x24xf32>) outs(%100 : tensor<2x16x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.addf %in, %cst_3 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x24xf32>
    %102 = tensor.empty() : tensor<2x16x24xf32>
    %103 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%101 : tensor<2x16x24xf32>) outs(%102 : tensor<2x16x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.mulf %in, %cst_0 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x24xf32>
    %104 = tensor.empty() : tensor<2x16x24xf32>
    %105 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_20, %103 : tensor<2x16x24xf32>, tensor<2x16x24xf32>) outs(%104 : tensor<2x16x24xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %116 = arith.mulf %in, %in_23 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x24xf32>
    %collapsed_21 = tensor.collapse_shape %105 [[0, 1], [2]] : tensor<2x16x24xf32> into tensor<32x24xf32>
    %106 = tensor.empty() : tensor<32x12xf32>
    %107 = linalg.fill ins(%cst_6 : f32) outs(%106 : tensor<32x12xf32>) -> tensor<32x12xf32>
    %108 = linalg.matmul ins(%collapsed_21, %cst_11 : tensor<32x24xf32>, tensor<24x12xf32>) outs(%107 : tensor<32x12xf32>) -> tensor<32x12xf32>
    %expanded_22 = tensor.expand_shape %108 [[0, 1], [2]] output_shape [2, 16, 12] : tensor<32x12xf32> into tensor<2x16x12xf32>
    %109 = tensor.empty() : tensor<2x16x12xf32>
    %110 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58, %expanded_22 : tensor<2x16x12xf32>, tensor<2x16x12xf32>) outs(%109 : tensor<2x16x12xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %116 = arith.addf %in, %in_23 : f32
      linalg.yield %116 : f32
    } -> tensor<2x16x12xf32>
    %111 = tensor.empty() : tensor<2x12xf32>
    %112 = linalg.fill ins(%cst_6 : f32) outs(%111 : tensor<2x12xf32>) -> tensor<2x12xf32>
    %113 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%110 : tensor<2x16x12xf32>) outs(%112 : tensor<2x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.addf %out, %in : f32
      linalg.yield %116 : f32
    } -> tensor<2x12xf32>
    %114 = tensor.empty() : tensor<2x12xf32>
    %115 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%113 : tensor<2x12xf32>) outs(%114 : tensor<2x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %116 = arith.divf %in, %cst : f32
      linalg.yield %116 : f32
    } -> tensor<2x12xf32>
    return %115 : tensor<2x12xf32>
  }
}

