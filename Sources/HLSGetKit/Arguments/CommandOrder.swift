/// Moves the command to the front if options precede it, as git and apt allow: `hlsget -q download URL`.
package enum CommandOrder {
    /// - Parameter options: Returns the options of all commands. Called only if an option comes first.
    package static func restored(
        _ arguments: [String], commands: [String], options: () -> [CommandOptions]
    ) -> [String] {
        guard arguments.first?.hasPrefix("-") == true, arguments.dropFirst().contains(where: commands.contains) else {
            return arguments
        }
        let options = options()
        var index = 0
        while index < arguments.count, let takesValue = takesValue(arguments[index], options) {
            index += takesValue ? 2 : 1
        }
        guard index < arguments.count, commands.contains(arguments[index]) else { return arguments }
        return [arguments[index]] + arguments[..<index] + arguments[(index + 1)...]
    }

    /// Returns whether the next argument is the value of an option, or `nil` for other arguments and unknown options.
    private static func takesValue(_ argument: String, _ options: [CommandOptions]) -> Bool? {
        guard argument.hasPrefix("-"), argument != "-", argument != "--" else { return nil }
        if argument == "--no-config" { return false }
        if argument == "--config" { return true }
        let name = argument.drop { $0 == "-" }
        if argument.hasPrefix("--") {
            if name.contains("=") { return false }
            return options.lazy.compactMap { $0.takesValue[String(name)] }.first
        }
        // Several letters are flags, or a letter and its value.
        guard let letter = name.first,
            let takesValue = options.lazy.compactMap({ $0.takesValue(ofLetter: letter) }).first
        else { return nil }
        return takesValue && name.count == 1
    }
}
