/// A finding of a check that goes beyond reading: what a playlist should be, and how to mend it.
public struct LintFinding: Sendable, Hashable {
    /// An error breaks a "must" of the specification; a warning is a "should", or a rule of Apple's for its devices.
    public var issue: PlaylistIssue
    /// How to fix it.
    public var remedy: String
    /// The playlist that it is about, as an absolute URL; nil for the playlist that was checked first.
    public var url: String?

    /// `remedy` is that of the rule where none is given.
    package init(_ issue: PlaylistIssue, remedy: String? = nil, url: String? = nil) {
        self.issue = issue
        self.remedy = remedy ?? issue.rule.remedy
        self.url = url
    }
}

extension Playlist {
    /// Everything that is wrong with the playlist: what reading found, then what only the whole shows.
    ///
    /// Does not touch the network. Takes linear time. Source: rfc8216bis; rules that start with `apple-` are numbered as
    /// in Apple's HLS authoring specification. For what only several playlists together show, see ``PresentationLint``.
    public func lint() -> [LintFinding] {
        switch self {
        case .media(let playlist): playlist.lint()
        case .multivariant(let playlist): playlist.lint()
        }
    }
}

/// Collects findings and knows in which line a tag stands.
struct LintCollector {
    private(set) var findings: [LintFinding]
    /// The line in which each tag stands for the first time.
    private let lines: [Tag: Int]

    /// `text` is that of the playlist, if it is as it was read.
    init(issues: [PlaylistIssue], text: [UInt8]?) {
        findings = issues.map { LintFinding($0) }
        var lines: [Tag: Int] = [:]
        var number = 0
        text?.forEachLine(in: 0..<(text?.count ?? 0)) { line in
            number += 1
            if case .tag(let tag) = line.content, lines[tag] == nil { lines[tag] = number }
        }
        self.lines = lines
    }

    /// Without `line`, it is that of the tag.
    mutating func add(
        _ rule: PlaylistRule, _ severity: PlaylistIssue.Severity, _ tag: Tag?, line: Int? = nil, _ text: String,
        _ remedy: String
    ) {
        let issue = PlaylistIssue(
            rule: rule, severity: severity, line: line ?? tag.flatMap { lines[$0] }, tag: tag?.rawValue, text: text)
        findings.append(LintFinding(issue, remedy: remedy))
    }
}
