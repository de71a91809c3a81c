import HLSGetKit

/// The options of `play` that a recording keeps: they affect decisions and cannot contain secrets.
///
/// A recording may come from an untrusted source. The same list applies to writing and reading, and none of its options
/// names a program, a file or a server.
enum RecordedOptions {
    struct Refusal: Error {
        let argument: String
    }

    private static let valued: Set<String> = [
        "--rate", "--forward-buffer", "--peak-bitrate", "--max-resolution", "--display", "--from", "--to", "--duration",
        "--live-offset", "--stale", "--fell-behind", "--quality", "--audio", "--subs", "--video", "--languages",
        "--retries",
        "--retry-backoff", "--on-gap", "--timeout", "--expensive-peak-bitrate", "--live-catch-up",
        "--skip-dateranges", "--skip-uri", "--interstitials",
    ]
    private static let flags: Set<String> = [
        "--no-video", "--no-audio", "--no-decode", "--fast", "--immediately", "--no-auto-wait",
        "--start-first-eligible", "--one-quality", "--live-from-start", "--no-low-latency",
        "--allow-file", "--expensive",
    ]

    static func kept(of arguments: some Sequence<String>) -> [String] {
        var kept: [String] = []
        var takesNext = false
        for argument in CatchUpArgument.joined(Array(arguments)) {
            let name = String(argument.prefix { $0 != "=" })
            if takesNext {
                kept.append(argument)
                takesNext = false
            } else if flags.contains(argument) {
                kept.append(argument)
            } else if valued.contains(name) {
                kept.append(argument)
                takesNext = name == argument
            }
        }
        return kept
    }

    /// The options of a recording, each value joined to its name, so that a value can never be taken for an option.
    ///
    /// - Throws: ``Refusal`` for the first option that ``kept(of:)`` would not keep.
    static func checked(_ arguments: [String]) throws(Refusal) -> [String] {
        var checked: [String] = []
        var rest = CatchUpArgument.joined(arguments)[...]
        while let argument = rest.popFirst() {
            let name = String(argument.prefix { $0 != "=" })
            if flags.contains(argument) {
                checked.append(argument)
            } else if valued.contains(name), name != argument {
                checked.append(argument)
            } else if valued.contains(name), let value = rest.popFirst() {
                checked.append("\(name)=\(value)")
            } else {
                throw Refusal(argument: argument)
            }
        }
        return checked
    }
}
