/// The value of `--live-catch-up`: `jump`, which it is by itself, or the highest rate.
package enum CatchUpArgument: Sendable, Equatable {
    case jump
    case rate(Float)

    /// - Throws: for anything but `jump` and numbers above 1, up to 2.
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

    /// The option joined to its value, so that what follows it without being one is taken for itself. The argument parser would
    /// leave out a value that is given where another option follows (`defaultAsFlag` of 1.8).
    package static func joined(_ arguments: [String]) -> [String] {
        var joined: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" { return joined + [argument] + rest }
            guard argument == option else {
                joined.append(argument)
                continue
            }
            // What begins as a number does is meant as one, and told of where it is none.
            let isValue = rest.first.map { $0 == "jump" || $0.allSatisfy { $0.isNumber || $0 == "." } } ?? false
            joined.append("\(option)=\(isValue ? rest.popFirst() ?? "jump" : "jump")")
        }
        return joined
    }
}
