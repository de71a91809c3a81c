/// Options that undo others, such as `--video` after `--no-video`.
///
/// Another example is `--no-fast` after a `--fast` in a configuration file or shell alias.
///
/// The argument parser knows none of them. They are resolved only if it rejects the arguments.
package enum OptionForms {
    /// - Parameters:
    ///   - arguments: The arguments, with any from a file, starting with the name of the command if there is one.
    ///   - commands: The commands as the argument parser defines them.
    /// - Returns: The arguments without these options and the ones they undo, or `nil` if there are none.
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
    /// The long name of a typed option, or `nil` if it is not an option or combines several letters.
    fileprivate func name(of argument: String) -> String? {
        if argument.hasPrefix("--") {
            let name = String(argument.dropFirst(2).prefix { $0 != "=" })
            return takesValue[name] == nil ? nil : name
        }
        return letters[String(argument.dropFirst().prefix(1))]
    }

    /// The option that an argument undoes.
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
