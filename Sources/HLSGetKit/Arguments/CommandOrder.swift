/// Moves the command to the front if common flags precede it, as git and apt allow: `hlsget -q download URL`.
package enum CommandOrder {
    private static let flags: Set<String> = ["-q", "--quiet", "-v", "--verbose"]

    package static func restored(_ arguments: [String], commands: [String]) -> [String] {
        let count = arguments.prefix { flags.contains($0) }.count
        guard count > 0, count < arguments.count, commands.contains(arguments[count]) else { return arguments }
        return [arguments[count]] + arguments[..<count] + arguments[(count + 1)...]
    }
}
