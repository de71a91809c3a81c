/// The value of `--live-catch-up`: `jump`, which is the default, or the highest rate.
package enum CatchUpArgument: Sendable, Equatable {
    case jump
    case rate(Float)

    /// - Throws: An error unless the text is `jump` or a number over 1 and up to 2.
    package init(parsing text: String) throws(ArgumentValueError) {
        if text == "jump" {
            self = .jump
        } else if text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), let rate = Float(text), rate > 1,
            rate <= 2
        {
            self = .rate(rate)
        } else {
            throw ArgumentValueError("--live-catch-up: expected jump, or a rate above 1 and up to 2")
        }
    }

    private static let option = "--live-catch-up"

    /// Joins the option to its value, so that a following argument is taken for a value only if it looks like one. The
    /// argument parser would drop a value that is followed by another option (`defaultAsFlag` of 1.8).
    package static func joined(_ arguments: [String]) -> [String] {
        var joined: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" { return joined + [argument] + rest }
            guard argument == option else {
                joined.append(argument)
                continue
            }
            // Treat anything that looks like a number as the value, and report an error if it is invalid.
            let isValue = rest.first.map { $0 == "jump" || $0.allSatisfy { $0.isNumber || $0 == "." } } ?? false
            joined.append("\(option)=\(isValue ? rest.popFirst() ?? "jump" : "jump")")
        }
        return joined
    }
}
