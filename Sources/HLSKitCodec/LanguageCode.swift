/// Converts language tags to the form in files: three letters of ISO 639-2.
enum LanguageCode {
    /// Returns the code of a BCP 47 tag, regardless of its region or script, or nil if there is none.
    ///
    /// - Parameter isBibliographic: Whether to abbreviate the language's English name (`ger`), as Matroska requires
    ///   (RFC 9559 §12), instead of its own name (`deu`), as in MP4 (ISO/IEC 14496-12 §8.4.2).
    static func threeLetters(of tag: String, isBibliographic: Bool = false) -> String? {
        let language = tag.prefix { $0 != "-" && $0 != "_" }.lowercased()
        let code: String?
        switch language.utf8.count {
        case 3: code = language.utf8.allSatisfy { $0 >= 0x61 && $0 <= 0x7A } ? language : nil
        case 2: code = codes[language]
        default: code = nil
        }
        return code.map { code in
            isBibliographic ? bibliographic[code] ?? code : bibliographic.first { $0.value == code }?.key ?? code
        }
    }

    private static let bibliographic = [
        "bod": "tib", "ces": "cze", "cym": "wel", "deu": "ger", "ell": "gre", "eus": "baq", "fas": "per", "fra": "fre",
        "hye": "arm", "isl": "ice", "kat": "geo", "mkd": "mac", "mri": "mao", "msa": "may", "mya": "bur", "nld": "dut",
        "ron": "rum", "slk": "slo", "sqi": "alb", "zho": "chi",
    ]

    private static let codes: [String: String] = {
        var codes: [String: String] = [:]
        for pair in table.split(whereSeparator: \.isWhitespace) {
            codes[String(pair.prefix(2))] = String(pair.dropFirst(2))
        }
        return codes
    }()

    /// ISO 639-1 code and ISO 639-2/T code in one word.
    private static let table = """
        aaaar ababk aeave afafr akaka amamh anarg arara asasm avava ayaym azaze babak bebel bgbul bhbih bibis bmbam bnben
        bobod brbre bsbos cacat ceche chcha cocos crcre csces cuchu cvchv cycym dadan dedeu dvdiv dzdzo eeewe elell eneng
        eoepo esspa etest eueus fafas ffful fifin fjfij fofao frfra fyfry gagle gdgla glglg gngrn guguj gvglv hahau heheb
        hihin hohmo hrhrv hthat huhun hyhye hzher iaina idind ieile igibo iiiii ikipk inind ioido isisl itita iuiku iwheb
        jajpn jiyid jvjav jwjav kakat kgkon kikik kjkua kkkaz klkal kmkhm knkan kokor krkau kskas kukur kvkom kwcor kykir
        lalat lbltz lglug lilim lnlin lolao ltlit lulub lvlav mgmlg mhmah mimri mkmkd mlmal mnmon moron mrmar msmsa mtmlt
        mymya nanau nbnob ndnde nenep ngndo nlnld nnnno nonor nrnbl nvnav nynya ococi ojoji omorm orori ososs papan pipli
        plpol pspus ptpor quque rmroh rnrun roron rurus rwkin sasan scsrd sdsnd sesme sgsag shhbs sisin skslk slslv smsmo
        snsna sosom sqsqi srsrp ssssw stsot susun svswe swswa tatam tetel tgtgk ththa titir tktuk tltgl tntsn toton trtur
        tstso tttat twtwi tytah uguig ukukr ururd uzuzb veven vivie vovol wawln wowol xhxho yiyid yoyor zazha zhzho zuzul
        """
}
