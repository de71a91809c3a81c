/// Forms of options that take others back: `--no-fast` behind `--fast`, which may stand in a file of options or in a shell's
/// alias, `--video` behind `--no-video`.
///
/// The argument parser knows none of them. They are looked at where it refuses what was typed.
package enum OptionForms {
    /// - Parameters:
    ///   - arguments: what a file adds included; the name of the command first, if there is one.
    ///   - commands: as the argument parser has them.
    /// - Returns: the arguments without those forms and what they take back; nil where there are none.
    package static func resolved(_ arguments: [String], _ commands: [CommandOptions]) -> [String]? {
        let named = commands.first { $0.name == arguments.first }
        guard let command = named ?? commands.first(where: { $0.name == "play" }) else { return nil }
        var entries: [(name: String?, words: [String])] = []
        var rest = arguments[...]
        var isChanged = false
        while let argument = rest.popFirst() {
            if argument == "--" {
                entries.append((nil, [argument] + rest))
                break
            }
            guard argument.hasPrefix("-"), argument.count > 1 else {
                entries.append((nil, [argument]))
                continue
            }
            if let taken = command.takenBack(by: argument) {
                entries.removeAll { $0.name == taken }
                isChanged = true
                continue
            }
            let name = command.name(of: argument)
            var words = [argument]
            let hasValue = argument.hasPrefix("--") ? argument.contains("=") : argument.count > 2
            if let name, command.takesValue[name] == true, !hasValue, let value = rest.popFirst() {
                words.append(value)
            }
            entries.append((name, words))
        }
        return isChanged ? entries.flatMap(\.words) : nil
    }
}

extension CommandOptions {
    /// The long name of an option as it was typed; nil where it is none, or several letters.
    fileprivate func name(of argument: String) -> String? {
        if argument.hasPrefix("--") {
            let name = String(argument.dropFirst(2).prefix { $0 != "=" })
            return takesValue[name] == nil ? nil : name
        }
        return letters[String(argument.dropFirst().prefix(1))]
    }

    /// The option that a form takes back.
    fileprivate func takenBack(by argument: String) -> String? {
        guard argument.hasPrefix("--") else { return nil }
        let name = String(argument.dropFirst(2))
        guard takesValue[name] == nil else { return nil }
        if name.hasPrefix("no-") {
            let positive = String(name.dropFirst(3))
            return takesValue[positive] == nil ? nil : positive
        }
        return takesValue["no-\(name)"] == false ? "no-\(name)" : nil
    }
}
