package import HLSKitCore

extension QualityExpression {
    /// Parses the value of `--quality`, `--audio`, `--subs` or `--video`.
    ///
    /// In addition to exact expressions, it accepts common shorthand: `720`, `BEST`, `height <= 720`, and `de` for
    /// `lang=de`.
    package init(argument: String, for subject: Subject) throws(ArgumentValueError) {
        do {
            try self.init(parsing: QualityArgument.expression(argument, for: subject), for: subject)
        } catch {
            if argument == "all" {
                throw ArgumentValueError("one is shown at a time; download and captions take all")
            }
            throw ArgumentValueError(error.description)
        }
    }
}

enum QualityArgument {
    /// Expands shorthand to an expression. Invalid text is unchanged, so that the error can quote it.
    static func expression(_ text: String, for subject: QualityExpression.Subject) -> String {
        text.split(separator: ",", omittingEmptySubsequences: false).map { alternative in
            joined(String(alternative)).split(separator: " ", omittingEmptySubsequences: false)
                .map { term(String($0), subject) }.joined(separator: " ")
        }.joined(separator: ",")
    }

    private static func joined(_ text: String) -> String {
        var result = ""
        for character in text {
            let isOperator = "<>=".contains(character)
            if isOperator { while result.last == " " { result.removeLast() } }
            if character == " ", let last = result.last, "<>=".contains(last) { continue }
            result.append(character)
        }
        return result
    }

    private static func term(_ term: String, _ subject: QualityExpression.Subject) -> String {
        let lower = term.lowercased()
        if lower == "best" || lower == "worst" { return lower }
        switch subject {
        case .variants:
            if (2...5).contains(term.count), term.allSatisfy({ $0.isASCII && $0.isNumber }) { return term + "p" }
            let rows = lower.prefix { $0.isASCII && $0.isNumber }
            return !rows.isEmpty && lower.dropFirst(rows.count).first == "p" ? lower : term
        case .renditions:
            let parts = term.split(separator: "-", omittingEmptySubsequences: false)
            let isTag = parts.allSatisfy { part in
                (1...8).contains(part.count) && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            }
            guard isTag, let first = parts.first, (2...3).contains(first.count), first.allSatisfy(\.isLetter),
                term != "all"
            else { return term }
            return "lang=\(term)"
        }
    }
}
