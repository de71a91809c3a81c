public import HLSKitLoading
package import HLSKitPlaylist

/// A textual request for variants or renditions, such as `720p,best` or `height<=1080 codec=avc`.
///
/// ```
/// expression  = alternative *("," alternative)      the first alternative that matches anything applies
/// alternative = term *(" " term)                     all terms must match
/// term        = "best" | "worst" | <H>"p"[<FPS>] | key operator value
/// operator    = "=" | "!=" | "<=" | ">=" | "<" | ">" | "~"   text allows "=", "!=", and "~" for "contains"
/// value       = word | '"' text '"' | "'" text "'"    a backslash escapes the next character
/// ```
///
/// The keys are the cases of ``Key``. A `bitrate` may end with `k`, `M` or `G`. `best` and `worst` select one of the
/// candidates that match the other terms of their alternative. Undeclared attributes match only terms with `!=`.
/// ``init(_:subject:)`` creates the same expressions from values, and also accepts your own predicates.
public struct QualityExpression: Sendable, Hashable, CustomStringConvertible {
    /// The kind of candidates that an expression selects.
    public enum Subject: Sendable, Hashable {
        case variants, renditions
    }

    /// The expression as written.
    public let text: String
    /// The kind of candidates that the expression selects.
    public let subject: Subject
    let alternatives: [Alternative]

    public var description: String { text }

    private static func error(in text: String, at term: String, _ cause: String) -> HLSError {
        HLSError(
            code: .invalidArgument,
            cause: term == text ? "\"\(term)\": \(cause)" : "\"\(term)\" in \"\(text)\": \(cause)")
    }

    /// Parses an expression.
    ///
    /// - Throws: ``HLSError`` with the code `invalidArgument` that describes the error, its place and a correction.
    public init(parsing text: String, for subject: Subject = .variants) throws(HLSError) {
        var alternatives: [Alternative] = []
        for words in try Self.words(of: text) {
            guard !words.isEmpty else { throw Self.error(in: text, at: "", "nothing between two commas") }
            var alternative = Alternative()
            for word in words {
                guard let problem = alternative.add(word.value, subject) else { continue }
                throw Self.error(in: text, at: word.text, problem)
            }
            alternatives.append(alternative)
        }
        self.text = text
        self.subject = subject
        self.alternatives = alternatives
    }

    private struct Word {
        var text = ""
        var value = ""
    }

    /// Splits the text into the terms of each alternative. Separators do not apply after a backslash, or inside quotes
    /// at the start of a value.
    private static func words(of text: String) throws(HLSError) -> [[Word]] {
        var alternatives: [[Word]] = [[]]
        var word = Word()
        var quote: Character?
        var isEscaped = false
        func end() {
            if !word.text.isEmpty { alternatives[alternatives.count - 1].append(word) }
            word = Word()
        }
        for character in text {
            if !isEscaped, quote == nil, character == "," || character.isWhitespace {
                end()
                if character == "," { alternatives.append([]) }
                continue
            }
            let begins = word.text.last.map { "=<>~".contains($0) } ?? true
            word.text.append(character)
            if isEscaped {
                word.value.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, begins, character == "\"" || character == "'" {
                quote = character
            } else {
                word.value.append(character)
            }
        }
        guard quote == nil, !isEscaped else {
            throw error(
                in: text, at: word.text, quote == nil ? "nothing after the backslash" : "a quote is not closed")
        }
        end()
        return alternatives
    }

    /// Returns the value of a term as it must be written, in quotes if it would be split otherwise.
    package static func quoted(_ value: String) -> String {
        let isPlain = !value.isEmpty && !value.contains { $0.isWhitespace || ",\\\"'".contains($0) }
        if isPlain { return value }
        let escaped = value.map { "\"\\".contains($0) ? "\\\($0)" : String($0) }.joined()
        return "\"\(escaped)\""
    }

    /// Returns the indexes of the variants that match the first matching alternative, best first.
    package func matches(_ variants: [AssetVariant]) -> [Int] {
        matches(variants.sortedByQuality().reversed(), value: { $0.value(of: $1) }) { $1.holds($0) }.map(\.index)
    }

    /// Returns the indexes of the renditions that match the first matching alternative.
    ///
    /// They are in the order of descending channel count, then in playlist order.
    package func matches(_ renditions: [RenditionCandidate]) -> [Int] {
        let ordered = renditions.sorted {
            let (left, right) = ($0.channelCount ?? 0, $1.channelCount ?? 0)
            return left != right ? left > right : $0.index < $1.index
        }
        return matches(ordered, value: { $0.value(of: $1) }) { _, _ in false }.map(\.index)
    }

    private func matches<Candidate>(
        _ candidates: [Candidate], value: (Candidate, Key) -> Value?, holds: (Candidate, Predicate) -> Bool
    ) -> [Candidate] {
        for alternative in alternatives {
            let left = candidates.filter { candidate in
                alternative.conditions.allSatisfy { $0.holds(for: value(candidate, $0.key)) }
                    && alternative.predicates.allSatisfy { holds(candidate, $0) }
            }
            if left.isEmpty { continue }
            switch alternative.extreme {
            case .best: return Array(left.prefix(1))
            case .worst: return Array(left.suffix(1))
            case nil: return left
            }
        }
        return []
    }
}

package struct RenditionCandidate: Sendable, Hashable {
    var index: Int
    /// The BCP 47 language tag, or nil if it is not declared.
    var language: String?
    var name: String
    /// The first number of `CHANNELS`, or nil if it is not declared.
    var channelCount: Int?
    /// The codecs of the variants that use it, or an empty array if they are not declared.
    var codecs: [String]
    var isForced: Bool
    var channelUsage: Set<ChannelUsage>?
    var characteristics: [String]

    package init(
        index: Int, language: String? = nil, name: String, channelCount: Int? = nil, codecs: [String] = [],
        isForced: Bool = false, channelUsage: Set<ChannelUsage>? = nil, characteristics: [String] = []
    ) {
        self.index = index
        self.language = language
        self.name = name
        self.channelCount = channelCount
        self.codecs = codecs
        self.isForced = isForced
        self.channelUsage = channelUsage
        self.characteristics = characteristics
    }
}

// MARK: - Terms

extension QualityExpression {
    /// The common name of a `CODECS` entry for a `codec` term, such as `hevc`, or `nil` if it has none.
    package static func codecName(of entry: String) -> String? { Alternative.commonName(of: entry) }

    /// The attribute that a term tests.
    public enum Key: String, Sendable {
        /// The height of a variant in pixels.
        case height
        /// The width of a variant in pixels.
        case width
        /// The `BANDWIDTH` of a variant in bits per second.
        case bitrate
        /// The frame rate of a variant, rounded to the nearest integer.
        case fps
        /// An entry of `CODECS` of a variant or rendition.
        case codec
        /// The `VIDEO-RANGE` of a variant.
        case range
        /// The number of channels of a rendition, or the largest in the audio group of a variant.
        case channels
        /// Whether a rendition, or one in the audio group of a variant, is made for headphones.
        case binaural
        /// Whether a rendition, or one in the audio group of a variant, is processed to surround the listener.
        case immersive
        /// Whether a rendition, or one in the audio group of a variant, is made from more channels.
        case downmix
        /// The language of a rendition.
        case lang
        /// The `NAME` of a rendition.
        case name
        /// Whether a rendition is `FORCED`.
        case forced
        /// Whether a rendition is for viewers with impaired hearing.
        ///
        /// Its `CHARACTERISTICS` contain a transcription of dialogue, or a description of music and sound effects.
        case sdh
        /// Whether a rendition is an audio description of the video.
        case described
        /// An entry of `CHARACTERISTICS` of a rendition.
        case characteristic

        static func all(for subject: Subject) -> [Key] {
            switch subject {
            case .variants:
                [.height, .width, .bitrate, .fps, .codec, .range, .channels, .binaural, .immersive, .downmix]
            case .renditions:
                [
                    .lang, .name, .channels, .codec, .forced, .sdh, .described, .characteristic, .binaural, .immersive,
                    .downmix,
                ]
            }
        }

        var isNumeric: Bool {
            switch self {
            case .height, .width, .bitrate, .fps, .channels: true
            default: false
            }
        }

        var isAnswer: Bool {
            switch self {
            case .forced, .sdh, .described, .binaural, .immersive, .downmix: true
            default: false
            }
        }
    }

    enum Operator: String, CaseIterable {
        // Longer operators come first, because the parser checks them in this order.
        case lessOrEqual = "<=", greaterOrEqual = ">=", unequal = "!="
        case less = "<", greater = ">", equal = "=", contains = "~"
    }

    enum Value: Sendable, Hashable {
        case number(Double)
        /// Any of these texts.
        case texts([String])
    }

    enum Extreme: String, Sendable {
        case best, worst
    }

    struct Condition: Sendable, Hashable {
        var key: Key
        var comparison: Operator
        var wanted: Value

        /// Whether a candidate has a wanted value. One that does not declare the value differs from each.
        func holds(for value: Value?) -> Bool {
            if comparison == .unequal {
                return !Condition(key: key, comparison: .equal, wanted: wanted).holds(for: value)
            }
            return switch (value, wanted) {
            case (.number(let value), .number(let wanted)):
                switch comparison {
                case .equal, .unequal: value == wanted
                case .less: value < wanted
                case .lessOrEqual: value <= wanted
                case .greater: value > wanted
                case .greaterOrEqual: value >= wanted
                case .contains: false
                }
            case (.texts(let values), .texts(let wanted)):
                values.contains { value in wanted.contains { matches(value.lowercased(), $0) } }
            default: false
            }
        }

        private func matches(_ value: String, _ wanted: String) -> Bool {
            if comparison == .contains { return value.contains(wanted) }
            return switch key {
            case .codec: value.hasPrefix(wanted)
            // A language matches its regions, so lang=de matches de-AT.
            case .lang: value == wanted || value.hasPrefix(wanted + "-")
            default: value == wanted
            }
        }
    }

    struct Alternative: Sendable, Hashable {
        var conditions: [Condition] = []
        var extreme: Extreme?
        var predicates: [Predicate] = []

        /// Adds a term. Returns a description of the error if the term is invalid.
        mutating func add(_ term: String, _ subject: Subject) -> String? {
            if term == "best" || term == "worst" {
                guard extreme == nil else { return "best or worst is already given" }
                extreme = term == "best" ? .best : .worst
                return nil
            }
            if subject == .variants, let conditions = Self.parseHeight(term) {
                self.conditions += conditions
                return nil
            }
            guard let (name, comparison, value) = Self.split(term) else {
                let heights = subject == .variants ? " 720p, 720p60," : ""
                return "not a term: best, worst,\(heights) or \(Self.keys(subject)) with =, !=, <=, >=, <, > or ~"
            }
            guard let key = Key(rawValue: name), Key.all(for: subject).contains(key) else {
                return "unknown key \"\(name)\": \(Self.keys(subject))"
            }
            guard !value.isEmpty else { return "no value after \(comparison.rawValue)" }
            guard key.isNumeric else {
                let isContained = comparison == .contains && !key.isAnswer
                guard comparison == .equal || comparison == .unequal || isContained else {
                    return "\(name) allows \(key.isAnswer ? "= and !=" : "=, != and ~") only"
                }
                guard let wanted = Self.texts(key, value) else { return "\(name) is yes or no" }
                conditions.append(Condition(key: key, comparison: comparison, wanted: .texts(wanted)))
                return nil
            }
            guard comparison != .contains else { return "\(name) is a number and allows no ~" }
            guard let number = Self.number(value, allowsSuffix: key == .bitrate) else {
                let suffixes = key == .bitrate ? ", with k, M or G" : ""
                return "\"\(value)\" is not a number\(suffixes)"
            }
            conditions.append(Condition(key: key, comparison: comparison, wanted: .number(number)))
            return nil
        }

        private static func keys(_ subject: Subject) -> String {
            Key.all(for: subject).map(\.rawValue).joined(separator: ", ")
        }

        /// Parses `720p` and `720p60`.
        private static func parseHeight(_ term: String) -> [Condition]? {
            let parts = term.split(separator: "p", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let height = number(String(parts[0])) else { return nil }
            let condition = Condition(key: .height, comparison: .equal, wanted: .number(height))
            if parts[1].isEmpty { return [condition] }
            guard let frameRate = number(String(parts[1])) else { return nil }
            return [condition, Condition(key: .fps, comparison: .equal, wanted: .number(frameRate))]
        }

        private static func split(_ term: String) -> (name: String, Operator, value: String)? {
            guard let start = term.firstIndex(where: { "<>=~!".contains($0) }), start != term.startIndex else {
                return nil
            }
            let rest = term[start...]
            guard let found = Operator.allCases.first(where: { rest.hasPrefix($0.rawValue) }) else { return nil }
            return (term[..<start].lowercased(), found, String(rest.dropFirst(found.rawValue.count)))
        }

        private static func number(_ text: String, allowsSuffix: Bool = false) -> Double? {
            var digits = Substring(text)
            var factor = 1.0
            if allowsSuffix, let suffix = digits.last, let found = ["k": 1e3, "m": 1e6, "g": 1e9][suffix.lowercased()] {
                factor = found
                digits = digits.dropLast()
            }
            // Not everything that Double accepts is valid here, for example "inf", "0x10" and "1e5".
            guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
                let number = Double(digits)
            else { return nil }
            return number * factor
        }

        static func texts(_ key: Key, _ value: String) -> [String]? {
            let value = value.lowercased()
            switch key {
            case .codec: return codecPrefixes[value] ?? [value]
            case .range: return value == "hdr" ? ["pq", "hlg"] : [value]
            case _ where key.isAnswer:
                guard let isForced = ["yes": "yes", "true": "yes", "no": "no", "false": "no"][value] else { return nil }
                return [isForced]
            default: return [value]
            }
        }

        fileprivate static func commonName(of entry: String) -> String? {
            let entry = entry.lowercased()
            // Longer prefixes first: MP3 in MP4 looks like AAC.
            return ["mp3", "aac", "eac3", "ac3", "avc", "hevc", "av1", "vp9"].first { name in
                codecPrefixes[name]?.contains { entry.hasPrefix($0) } == true
            }
        }

        /// Common names of codecs, and the prefixes of their `CODECS` entries in lower case.
        private static let codecPrefixes = [
            "avc": ["avc1", "avc3"], "h264": ["avc1", "avc3"],
            "hevc": ["hvc1", "hev1", "dvh1", "dvhe"], "h265": ["hvc1", "hev1", "dvh1", "dvhe"],
            "av1": ["av01"], "vp9": ["vp09"],
            "aac": ["mp4a.40"], "mp3": ["mp4a.40.34", "mp4a.69", "mp4a.6b"],
            "ac3": ["ac-3"], "eac3": ["ec-3"],
        ]
    }
}

extension AssetVariant {
    fileprivate func value(of key: QualityExpression.Key) -> QualityExpression.Value? {
        switch key {
        case .height: height.map { .number(Double($0)) }
        case .width: resolution.map { .number(Double($0.width)) }
        case .bitrate: peakBitRate.map { .number($0) }
        // A rate of 59.94 is written as 60.
        case .fps: storage.facts.frameRate.map { .number($0.rounded()) }
        case .codec: .texts(codecs)
        case .range: .texts([videoRange.rawValue])
        case .channels: audioOptions.compactMap(\.channelCount).max().map { .number(Double($0)) }
        case .binaural: uses(.binaural)
        case .immersive: uses(.immersive)
        case .downmix: uses(.downmix)
        case .lang, .name, .forced, .sdh, .described, .characteristic: nil
        }
    }

    private func uses(_ usage: ChannelUsage) -> QualityExpression.Value? {
        let declared = audioOptions.filter { $0.channelCount != nil }
        if declared.isEmpty { return nil }
        return .texts([declared.contains { $0.channelUsage.contains(usage) } ? "yes" : "no"])
    }
}

extension RenditionCandidate {
    fileprivate func value(of key: QualityExpression.Key) -> QualityExpression.Value? {
        switch key {
        case .lang: language.map { .texts([$0]) }
        case .name: .texts([name])
        case .channels: channelCount.map { .number(Double($0)) }
        case .codec: .texts(codecs)
        case .forced: .texts([isForced ? "yes" : "no"])
        case .sdh:
            has("public.accessibility.transcribes-spoken-dialog", "public.accessibility.describes-music-and-sound")
        case .described: has("public.accessibility.describes-video")
        case .characteristic: .texts(characteristics)
        case .binaural: uses(.binaural)
        case .immersive: uses(.immersive)
        case .downmix: uses(.downmix)
        case .height, .width, .bitrate, .fps, .range: nil
        }
    }

    private func has(_ wanted: String...) -> QualityExpression.Value {
        .texts([wanted.contains { characteristics.contains($0) } ? "yes" : "no"])
    }

    private func uses(_ usage: ChannelUsage) -> QualityExpression.Value? {
        channelUsage.map { .texts([$0.contains(usage) ? "yes" : "no"]) }
    }
}
