import ArgumentParser

/// The help of options that `play` and `download` share.
///
/// They are not option groups, because at each start the parser looks up what every type of group conforms to: half a million
/// instructions for each.
extension ArgumentHelp {
    static let languages = ArgumentHelp(
        "Preferred audio languages, e.g. de,en (from $LANG by default).", valueName: "list")
    static let video = ArgumentHelp(
        "Video of a group of renditions, such as camera angles, e.g. name=Dugout.", valueName: "expr")
    static let wait = ArgumentHelp(
        "Wait up to this long for a stream that has not started.", valueName: "time|forever")
    static let refreshCommand = ArgumentHelp(
        "Run this command for a fresh URL after a 403 or 410 in mid-stream; $HLSGET_URL is the old one.",
        valueName: "cmd")
    static let progress = ArgumentHelp(
        "Status line, JSON lines on stderr, or nothing.", valueName: "bar|json|none")
}
