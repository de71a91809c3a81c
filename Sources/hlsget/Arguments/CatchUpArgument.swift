import ArgumentParser

/// The value of `--live-catch-up`: `jump`, which it is by itself, or the highest rate.
enum CatchUpArgument: Sendable, Equatable, ExpressibleByArgument {
    case jump
    case rate(Float)

    /// nil for anything but `jump` and numbers above 1, up to 2.
    init?(argument: String) {
        if argument == "jump" {
            self = .jump
        } else if argument.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), let rate = Float(argument),
            rate > 1, rate <= 2
        {
            self = .rate(rate)
        } else {
            return nil
        }
    }

    private static let option = "--live-catch-up"

    /// The option joined to its value, so that what follows it without being one is taken for itself.
    static func joined(_ arguments: [String]) -> [String] {
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
