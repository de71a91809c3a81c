/// Values that no message repeats, as the argument parser does with those that it refuses.
///
/// Source: docs/contributing/security.md.
package enum SecretArgument {
    private static let options = ["--key", "--iv", "--key-uri"]

    /// A message without the values that were given for keys.
    package static func hidden(in message: String, _ arguments: [String]) -> String {
        let values = values(in: arguments).filter { !$0.isEmpty }.sorted { $0.count > $1.count }
        // What is quoted is what was typed; the rest of the message may have short values in its words.
        return values.reduce(message) { message, value in message.replacing("'\(value)'", with: "'…'") }
    }

    private static func values(in arguments: [String]) -> [String] {
        zip(arguments, arguments.dropFirst() + [""]).flatMap { argument, next -> [String] in
            options.flatMap { option -> [String] in
                if argument == option { return [next] }
                guard argument.hasPrefix(option + "=") else { return [] }
                // Some messages have the option with it.
                return [argument, String(argument.dropFirst(option.count + 1))]
            }
        }
    }
}
