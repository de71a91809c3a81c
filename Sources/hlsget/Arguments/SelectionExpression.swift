import HLSKitCore

/// What `--quality`, `--audio` and `--subs` take: alternatives between commas, of which the first one that matches
/// anything counts; each is a list of terms between blanks, all of which have to hold.
///
///     720p60,height<=720 codec=hevc,worst
struct SelectionExpression: Sendable, Equatable {
    /// What the terms are about: each kind has attributes of its own.
    enum Subject: Sendable, Equatable { case quality, rendition }

    enum Comparison: String, Sendable, Equatable, CaseIterable {
        // The longer signs come first, because they are looked for in this order.
        case atMost = "<="
        case atLeast = ">="
        case equal = "="
        case below = "<"
        case above = ">"

        func holds(_ left: Double, _ right: Double) -> Bool {
            switch self {
            case .atMost: left <= right
            case .atLeast: left >= right
            case .equal: abs(left - right) < 0.01
            case .below: left < right
            case .above: left > right
            }
        }
    }

    enum Attribute: String, Sendable, Equatable, CaseIterable {
        case height, width, bitrate, fps, codec, range
        case lang, name, channels, forced

        static func all(for subject: Subject) -> [Attribute] {
            switch subject {
            case .quality: [.height, .width, .bitrate, .fps, .codec, .range]
            case .rendition: [.lang, .name, .channels, .codec, .forced]
            }
        }

        var isNumeric: Bool {
            switch self {
            case .height, .width, .bitrate, .fps, .channels: true
            case .codec, .range, .lang, .name, .forced: false
            }
        }
    }

    enum Term: Sendable, Equatable {
        /// The candidate with the highest or the lowest bit rate of those that the other terms leave.
        case best, worst
        case number(Attribute, Comparison, Double)
        case text(Attribute, String)
    }

    /// Never empty, nor is any of them.
    var alternatives: [[Term]]

    init(alternatives: [[Term]]) { self.alternatives = alternatives }

    init(parsing text: String, for subject: Subject) throws(ArgumentValueError) {
        alternatives = []
        for alternative in text.split(separator: ",", omittingEmptySubsequences: false) {
            var terms: [Term] = []
            for word in alternative.split(whereSeparator: \.isWhitespace) {
                terms += try Self.terms(String(word), for: subject)
            }
            guard !terms.isEmpty else { throw ArgumentValueError("an alternative is empty") }
            guard terms.count(where: { $0 == .best || $0 == .worst }) <= 1 else {
                throw ArgumentValueError("best and worst contradict one another")
            }
            alternatives.append(terms)
        }
    }

    private static func terms(_ word: String, for subject: Subject) throws(ArgumentValueError) -> [Term] {
        if word == "best" { return [.best] }
        if word == "worst" { return [.worst] }
        for comparison in Comparison.allCases {
            guard let sign = word.split(separator: comparison.rawValue, maxSplits: 1).count == 2 ? comparison : nil
            else { continue }
            let sides = word.split(separator: sign.rawValue, maxSplits: 1)
            return [try term(String(sides[0]), sign, String(sides[1]), for: subject)]
        }
        if subject == .quality, let terms = namedHeight(word) { return terms }
        let hint =
            subject == .quality ? "write best, worst, 720p, 720p60 or a term as in height<=720" : "write lang=\(word)"
        throw ArgumentValueError("'\(word)' is not understood; \(hint)")
    }

    private static func term(
        _ name: String, _ comparison: Comparison, _ value: String, for subject: Subject
    ) throws(ArgumentValueError) -> Term {
        let attributes = Attribute.all(for: subject)
        guard let attribute = Attribute(rawValue: name.lowercased()), attributes.contains(attribute) else {
            throw ArgumentValueError("'\(name)' is not one of \(attributes.map(\.rawValue).joined(separator: ", "))")
        }
        if attribute.isNumeric {
            guard let number = BitRateArgument.parseOptional(value) else {
                throw ArgumentValueError("\(name) is compared with a number, not with '\(value)'")
            }
            return .number(attribute, comparison, number)
        }
        guard comparison == .equal else { throw ArgumentValueError("\(name) can only be compared with =") }
        if attribute == .forced, !["yes", "no"].contains(value.lowercased()) {
            throw ArgumentValueError("forced is yes or no")
        }
        return .text(attribute, value.lowercased())
    }

    /// `720p` and `720p60`.
    private static func namedHeight(_ word: String) -> [Term]? {
        let parts = word.split(separator: "p", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let height = Int(parts[0]), height > 0 else { return nil }
        let terms = [Term.number(.height, .equal, Double(height))]
        if parts[1].isEmpty { return terms }
        guard let rate = Int(parts[1]), rate > 0 else { return nil }
        return terms + [.number(.fps, .equal, Double(rate))]
    }
}

extension SelectionExpression {
    /// A variant or rendition in the terms of the expression.
    struct Candidate: Sendable, Equatable {
        var numbers: [Attribute: Double] = [:]
        /// Lower case. Several values where any of them may match (codecs, languages).
        var texts: [Attribute: [String]] = [:]
    }

    /// The positions of the candidates that the first fitting alternative leaves; empty when none fits any.
    ///
    /// `best` and `worst` leave one: that with the highest or lowest bit rate, the first of equals.
    func matches(in candidates: [Candidate]) -> [Int] {
        for alternative in alternatives {
            var positions = candidates.indices.filter { position in
                alternative.allSatisfy { candidates[position].satisfies($0) }
            }
            let rate = { (position: Int) in candidates[position].numbers[.bitrate] ?? 0 }
            if alternative.contains(.best), let most = positions.map(rate).max() {
                positions = Array(positions.filter { rate($0) == most }.prefix(1))
            } else if alternative.contains(.worst), let least = positions.map(rate).min() {
                positions = Array(positions.filter { rate($0) == least }.prefix(1))
            }
            if !positions.isEmpty { return positions }
        }
        return []
    }
}

extension SelectionExpression.Candidate {
    /// Frame rates are equal when they name the same family: 59.94 is called 60.
    private static let frameRateTolerance = 0.5

    func satisfies(_ term: SelectionExpression.Term) -> Bool {
        switch term {
        case .best, .worst: return true
        case .number(.fps, .equal, let wanted):
            guard let value = numbers[.fps] else { return false }
            return abs(value - wanted) < Self.frameRateTolerance
        case .number(let attribute, let comparison, let wanted):
            guard let value = numbers[attribute] else { return false }
            return comparison.holds(value, wanted)
        case .text(.codec, let wanted):
            let names = Self.sampleEntries[wanted] ?? [wanted]
            return (texts[.codec] ?? []).contains { codec in names.contains { codec.hasPrefix($0) } }
        case .text(.lang, let wanted):
            return (texts[.lang] ?? []).contains { $0 == wanted || $0.hasPrefix(wanted + "-") }
        case .text(let attribute, let wanted):
            return (texts[attribute] ?? []).contains(wanted)
        }
    }

    /// How people call codecs, and how `CODECS` does (RFC 6381 and the registries it names).
    private static let sampleEntries = [
        "h264": ["avc1", "avc3"], "avc": ["avc1", "avc3"], "hevc": ["hvc1", "hev1", "dvh1", "dvhe"],
        "h265": ["hvc1", "hev1", "dvh1", "dvhe"], "av1": ["av01"], "vp9": ["vp09"], "aac": ["mp4a.40"],
        "mp3": ["mp4a.40.34", "mp4a.69", "mp4a.6b"], "ac3": ["ac-3"], "eac3": ["ec-3"], "opus": ["opus"],
        "flac": ["flac"],
    ]

    /// A variant in the terms of `--quality`. `videoRange` is the text of `VIDEO-RANGE`; without it, SDR.
    init(variant: VariantDescription, videoRange: String? = nil) {
        numbers[.bitrate] = Double(variant.bandwidth)
        if variant.height > 0 { numbers[.height] = Double(variant.height) }
        if variant.width > 0 { numbers[.width] = Double(variant.width) }
        numbers[.fps] = variant.frameRate
        texts[.codec] = variant.codecs.lowercased().split(separator: ",").map {
            String($0.drop(while: \.isWhitespace))
        }
        texts[.range] = [(videoRange ?? "SDR").lowercased()]
    }

    /// A rendition in the terms of `--audio` and `--subs`.
    init(language: String?, name: String, channelCount: Int?, codecs: [String], isForced: Bool) {
        texts[.lang] = language.map { [$0.lowercased()] }
        texts[.name] = [name.lowercased()]
        numbers[.channels] = channelCount.map(Double.init)
        texts[.codec] = codecs.map { $0.lowercased() }
        texts[.forced] = [isForced ? "yes" : "no"]
    }
}
