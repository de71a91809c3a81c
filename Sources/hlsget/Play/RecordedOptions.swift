/// Those of the options of `play` that a recording keeps: what the player decides by, and nothing that could be secret.
enum RecordedOptions {
    private static let valued: Set<String> = [
        "--rate", "--forward-buffer", "--peak-bitrate", "--max-resolution", "--display", "--from", "--to", "--duration",
        "--live-offset", "--stale", "--fell-behind", "--quality", "--audio", "--subs", "--retries", "--timeout",
    ]
    private static let flags: Set<String> = [
        "--no-video", "--no-audio", "--no-decode", "--fast", "--immediately", "--no-auto-wait",
        "--start-first-eligible", "--one-quality", "--live-from-start", "--allow-file",
    ]

    static func kept(of arguments: some Sequence<String>) -> [String] {
        var kept: [String] = []
        var takesNext = false
        for argument in arguments {
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
}
