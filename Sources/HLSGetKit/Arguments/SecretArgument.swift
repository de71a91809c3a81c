/// Hides secret values in messages, because the argument parser quotes invalid values.
package enum SecretArgument {
    private static let options = ["--key", "--iv", "--key-uri"]

    package static func hidden(in message: String, _ arguments: [String]) -> String {
        let values = values(in: arguments).filter { !$0.isEmpty }.sorted { $0.count > $1.count }
        // Replace only quoted values, because a short value may occur in other words of the message.
        return values.reduce(message) { message, value in message.replacing("'\(value)'", with: "'…'") }
    }

    private static func values(in arguments: [String]) -> [String] {
        zip(arguments, arguments.dropFirst() + [""]).flatMap { argument, next -> [String] in
            options.flatMap { option -> [String] in
                if argument == option { return [next] }
                guard argument.hasPrefix(option + "=") else { return [] }
                // Some messages quote the whole argument.
                return [argument, String(argument.dropFirst(option.count + 1))]
            }
        }
    }
}
