extension SteeringManifest {
    /// Returns the faults of a playlist's manifest: first those found by the parser, then those that involve the
    /// playlist.
    ///
    /// - Parameter url: The URL of the manifest.
    package func lint(for playlist: MultivariantPlaylist, url: String?) -> [LintFinding] {
        func finding(_ text: String, _ remedy: String, isError: Bool = false) -> LintFinding {
            let issue = PlaylistIssue(rule: .steeringManifest, severity: isError ? .error : .warning, text: text)
            return LintFinding(issue, remedy: remedy, url: url)
        }
        var findings = issues.map { finding($0, "correct the entry, or remove it") }
        var known = Set((playlist.variants + playlist.iFrameVariants).map(\.pathway))
        for clone in clones {
            if known.contains(clone.id) {
                findings.append(finding("the clone \(clone.id) is a pathway already", "give it another ID"))
            } else if known.contains(clone.baseID) {
                known.insert(clone.id)
            } else {
                findings.append(
                    finding(
                        "the clone \(clone.id) has the base \(clone.baseID), which does not exist",
                        "name a pathway of the playlist, or an earlier clone", isError: true))
            }
        }
        let unknown = priority.filter { !known.contains($0) }
        if unknown.count == priority.count {
            findings.append(
                finding(
                    "PATHWAY-PRIORITY names no pathway of the playlist", "name one by its PATHWAY-ID", isError: true))
        } else if !unknown.isEmpty {
            findings.append(
                finding(
                    "PATHWAY-PRIORITY names \(unknown.prefix(4).joined(separator: ", ")), which the playlist does not have",
                    "add PATHWAY-ID to its variants, or remove the entry"))
        }
        return findings
    }
}
