import HLSKitPlaylist
import Synchronization

/// Expressions that are built from Swift values.
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

        /// The best candidate that matches the other terms of the alternative.
        public static let best = Term(content: .extreme(.best))
        /// The worst candidate that matches the other terms of the alternative.
        public static let worst = Term(content: .extreme(.worst))

        /// Matches a number of at least `number`.
        ///
        /// A key with text never matches.
        public static func atLeast(_ key: Key, _ number: Double) -> Term { term(key, .greaterOrEqual, .number(number)) }
        /// Matches a number of at most `number`.
        ///
        /// A key with text never matches.
        public static func atMost(_ key: Key, _ number: Double) -> Term { term(key, .lessOrEqual, .number(number)) }
        /// Matches this number.
        ///
        /// A key with text never matches.
        public static func equal(_ key: Key, _ number: Double) -> Term { term(key, .equal, .number(number)) }

        /// Matches this text, ignoring case.
        ///
        /// A key with numbers never matches. The text is the common name of a codec (`hevc`) or a prefix of its entry
        /// in `CODECS`, a language with all its regions, a range of `VIDEO-RANGE` or `hdr`, or a name.
        public static func equal(_ key: Key, _ text: String) -> Term {
            term(key, .equal, .texts(Alternative.texts(key, text) ?? [text.lowercased()]))
        }

        /// Matches a value that contains this text, ignoring case.
        ///
        /// A key with numbers or with yes and no never matches.
        public static func contains(_ key: Key, _ text: String) -> Term {
            term(key, .contains, .texts([text.lowercased()]))
        }

        /// Matches a key with yes and no.
        ///
        /// The keys are ``Key/binaural``, ``Key/immersive``, ``Key/downmix``, ``Key/forced``, ``Key/sdh`` and
        /// ``Key/described``.
        public static func has(_ key: Key, _ isWanted: Bool = true) -> Term {
            term(key, .equal, .texts([isWanted ? "yes" : "no"]))
        }

        /// Matches the variants for which `predicate` is true, and no renditions.
        ///
        /// The predicate is called once for each variant of a playlist, without any lock. It runs on the thread that
        /// sets the expression, or on the player's task when the playlist arrives. Its result must depend on the
        /// variant alone. It must be quick, well under a millisecond.
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

    /// A predicate of the app with its cached results, equal only to itself. The cache is needed because the player is
    /// locked when results are used.
    final class Predicate: Sendable, Hashable {
        /// More than the variants of a playlist, so that all of them have results before the player is locked.
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

    /// Evaluates the app's predicates for all variants, so that none is called with a lock held.
    package func judge(_ variants: @autoclosure () -> [AssetVariant]) {
        let predicates = alternatives.flatMap(\.predicates)
        if predicates.isEmpty { return }
        for variant in variants() {
            for predicate in predicates { _ = predicate.holds(variant) }
        }
    }

    /// Creates an expression.
    ///
    /// The first of the `alternatives` that matches anything applies. All terms of an alternative must match. An
    /// alternative without terms matches everything, and an expression without alternatives matches nothing. A key that
    /// the subject does not have, or that is not declared, never matches.
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
