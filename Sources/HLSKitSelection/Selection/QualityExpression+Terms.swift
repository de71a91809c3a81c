import HLSKitPlaylist
import Synchronization

/// Expressions made of Swift values.
///
/// ```swift
/// item.quality = QualityExpression([.atMost(.height, 1080), .equal(.codec, "hevc")], [.best])
/// item.quality = QualityExpression([.matching { $0.hdcpLevel == nil }])
/// ```
extension QualityExpression {
    /// One term of an expression.
    public struct Term: Sendable, Hashable {
        enum Content: Sendable, Hashable {
            case condition(Condition)
            case extreme(Extreme)
            case predicate(Predicate)
        }

        let content: Content

        /// The best of what the other terms of the alternative leave.
        public static let best = Term(content: .extreme(.best))
        /// The worst of what the other terms of the alternative leave.
        public static let worst = Term(content: .extreme(.worst))

        /// A number of at least `number`. A key of text matches nothing.
        public static func atLeast(_ key: Key, _ number: Double) -> Term { term(key, .greaterOrEqual, .number(number)) }
        /// A number of at most `number`. A key of text matches nothing.
        public static func atMost(_ key: Key, _ number: Double) -> Term { term(key, .lessOrEqual, .number(number)) }
        /// This number. A key of text matches nothing.
        public static func equal(_ key: Key, _ number: Double) -> Term { term(key, .equal, .number(number)) }

        /// This text, whatever its case: the common name of a codec (`hevc`) or how its entry in `CODECS` begins, a language
        /// with all its regions, a range of `VIDEO-RANGE` or `hdr`, a name. A key of numbers matches nothing.
        public static func equal(_ key: Key, _ text: String) -> Term {
            term(key, .equal, .texts(Alternative.texts(key, text) ?? [text.lowercased()]))
        }

        /// This text somewhere in the value, whatever its case. A key of numbers, and one of yes and no, matches nothing.
        public static func contains(_ key: Key, _ text: String) -> Term {
            term(key, .contains, .texts([text.lowercased()]))
        }

        /// Whether it is ``Key/binaural``, ``Key/immersive``, ``Key/downmix``, ``Key/forced``, ``Key/sdh`` or
        /// ``Key/described``.
        public static func has(_ key: Key, _ isWanted: Bool = true) -> Term {
            term(key, .equal, .texts([isWanted ? "yes" : "no"]))
        }

        /// The variants for which `predicate` is true; no rendition. It is called once for each variant of a playlist, without
        /// any lock: on the thread that sets the expression, or on the player's task when the playlist comes. Its answer must
        /// depend on the variant alone; it must be quick (well under a millisecond).
        public static func matching(_ predicate: @escaping @Sendable (AssetVariant) -> Bool) -> Term {
            Term(content: .predicate(Predicate(predicate)))
        }

        private static func term(_ key: Key, _ comparison: Operator, _ wanted: Value) -> Term {
            Term(content: .condition(Condition(key: key, comparison: comparison, wanted: wanted)))
        }

        fileprivate var text: String {
            switch content {
            case .condition(let condition): condition.text
            case .extreme(let extreme): extreme.rawValue
            case .predicate: "matching"
            }
        }
    }

    /// A condition of the program, with its answers: where they are asked for, the player is locked. Equal to itself only.
    final class Predicate: Sendable, Hashable {
        /// More than a playlist may have variants: all of them have answers before the player is locked.
        private static let mostAnswers = 10_000

        private let predicate: @Sendable (AssetVariant) -> Bool
        private let answers = Mutex<[AssetVariant: Bool]>([:])

        init(_ predicate: @escaping @Sendable (AssetVariant) -> Bool) { self.predicate = predicate }

        func holds(_ variant: AssetVariant) -> Bool {
            if let known = answers.withLock({ $0[variant] }) { return known }
            let answer = predicate(variant)
            answers.withLock { answers in
                if answers.count >= Self.mostAnswers { answers = [:] }
                answers[variant] = answer
            }
            return answer
        }

        static func == (one: Predicate, other: Predicate) -> Bool { one === other }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    /// Asks the conditions of the program about variants, so that nobody has to ask them under a lock.
    package func judge(_ variants: @autoclosure () -> [AssetVariant]) {
        let predicates = alternatives.flatMap(\.predicates)
        if predicates.isEmpty { return }
        for variant in variants() {
            for predicate in predicates { _ = predicate.holds(variant) }
        }
    }

    /// The first of `alternatives` that something matches counts; all its terms have to match.
    ///
    /// An alternative without a term matches everything; without an alternative nothing does. A key that the subject does
    /// not have, and what is not declared, match nothing.
    public init(_ alternatives: [Term]..., subject: Subject = .variants) {
        text = alternatives.map { $0.map(\.text).joined(separator: " ") }.joined(separator: ",")
        self.subject = subject
        self.alternatives = alternatives.map { terms in
            var alternative = Alternative()
            for term in terms {
                switch term.content {
                case .condition(let condition): alternative.conditions.append(condition)
                case .extreme(let extreme): alternative.extreme = extreme
                case .predicate(let predicate): alternative.predicates.append(predicate)
                }
            }
            return alternative
        }
    }
}

extension QualityExpression.Condition {
    fileprivate var text: String {
        switch wanted {
        case .number(let number):
            let whole = Int(exactly: number).map(String.init) ?? "\(number)"
            return key.rawValue + comparison.rawValue + whole
        case .texts(let texts): return key.rawValue + comparison.rawValue + (texts.first ?? "")
        }
    }
}
