/// A finding of a check that exceeds parsing: a deviation from the recommended form, and its remedy.
public struct LintFinding: Sendable, Hashable {
    /// The issue that the check found.
    ///
    /// An error violates a "must" of the specification. A warning violates a "should" or one of Apple's rules for its
    /// devices.
    public var issue: PlaylistIssue
    /// The way to fix the issue.
    public var remedy: String
    /// The absolute URL of the affected playlist, or `nil` for the playlist that was checked first.
    public var url: String?

    /// The default of `remedy` is the rule's own.
    package init(_ issue: PlaylistIssue, remedy: String? = nil, url: String? = nil) {
        self.issue = issue
        self.remedy = remedy ?? issue.rule.remedy
        self.url = url
    }
}

extension Playlist {
    /// Returns the findings of the parser, followed by those about the playlist as a whole.
    ///
    /// This method makes no requests and takes linear time. Rules that start with `apple-` are numbered as in Apple's
    /// HLS authoring specification. ``PresentationLint`` finds issues that involve several playlists. Source:
    /// rfc8216bis.
    public func lint() -> [LintFinding] {
        switch self {
        case .media(let playlist): playlist.lint()
        case .multivariant(let playlist): playlist.lint()
        }
    }
}

struct LintCollector {
    private(set) var findings: [LintFinding]
    private let lines: [Tag: Int]

    /// `text` is the text of the playlist if it has not been edited.
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

    /// The default of `line` is the line of the tag.
    mutating func add(
        _ rule: PlaylistRule, _ severity: PlaylistIssue.Severity, _ tag: Tag?, line: Int? = nil, _ text: String,
        _ remedy: String
    ) {
        let issue = PlaylistIssue(
            rule: rule, severity: severity, line: line ?? tag.flatMap { lines[$0] }, tag: tag?.rawValue, text: text)
        findings.append(LintFinding(issue, remedy: remedy))
    }
}
