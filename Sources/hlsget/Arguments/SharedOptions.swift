import ArgumentParser
import HLSGetKit
import HLSKitCore

// The options that playing and downloading share, each group for its place in the help.

struct TrackOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Preferred audio languages, e.g. de,en (from $LANG by default).", valueName: "list"),
        transform: LanguageListArgument.parse)
    var languages: [String]?
    @Option(
        help: ArgumentHelp(
            "Video of a group of renditions, such as camera angles, e.g. name=Dugout.", valueName: "expr"),
        transform: { try QualityExpression(argument: $0, for: .renditions) })
    var video: QualityExpression?
}

struct WaitOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Wait up to this long for a stream that has not started.", valueName: "time|forever"),
        transform: WaitArgument.init(parsing:))
    var wait: WaitArgument?
}

struct RefreshOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Run this command for a fresh URL after a 403 or 410 in mid-stream; $HLSGET_URL is the old one.",
            valueName: "cmd"))
    var refreshCmd: String?
}

struct ProgressOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Status line, JSON lines on stderr, or nothing.", valueName: "bar|json|none"),
        completion: .list(["bar", "json", "none"]),
        transform: { try ChoiceArgument.parse($0) })
    var progress: PlayOptions.ProgressStyle?
}
