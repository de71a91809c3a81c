import HLSGetKit
import HLSKitCore

struct LintReport: Sendable {
    var findings: [LintFinding]
    var playlistCount: Int
    /// `nil` if sizes were not requested.
    var measuredSegmentCount: Int?

    var hasErrors: Bool { findings.contains { $0.issue.severity == .error } }
}

/// Loads a playlist and its resources, and collects findings. Requests, time and memory are bounded.
struct LintRun: Sendable {
    var isDeep: Bool
    static let maximumPlaylistCount = 500
    /// The maximum number of requests for sizes in one presentation, divided evenly among its playlists.
    static let maximumSizeRequestCount = 20_000
    /// RFC 8216 §10 allows at most four at a time.
    static let maximumRequestsAtATime = 4
    /// No requests are started after this time.
    static let longestRun = Duration.seconds(300)

    func check(_ input: PlaylistInput) async throws(PlaylistInput.Failure) -> LintReport {
        let playlist = try await input.read(.init())
        switch playlist {
        case .media(let media):
            var findings = media.lint()
            guard isDeep else { return LintReport(findings: findings, playlistCount: 1) }
            // Without a multivariant playlist there is no BANDWIDTH to compare sizes with.
            findings.append(
                Self.notChecked("bit rates, which only the multivariant playlist declares", remedy: "give its URL"))
            return LintReport(findings: findings, playlistCount: 1, measuredSegmentCount: 0)
        case .multivariant(let multivariant):
            guard let url = try input.url() ?? input.base else {
                let note = Self.notChecked(
                    "the media playlists", remedy: "give a URL or path to find them, or --base-url")
                return LintReport(findings: multivariant.lint() + [note], playlistCount: 1)
            }
            // Credentials stay with the origin that the user gave, even after a redirect to another one (R59).
            let options = try? input.connection.assetOptions(of: url, allowsFilesOutside: input.allowsFilesOutside) {
                input.saying.wrap($0)
            }
            return await check(multivariant, loader: try input.loader(of: url), options)
        }
    }

    private static func notChecked(
        _ what: String, remedy: String = "check it separately", url: String? = nil
    ) -> LintFinding {
        LintFinding(
            PlaylistIssue(rule: .notChecked, severity: .warning, text: "not checked: \(what)"), remedy: remedy,
            url: url)
    }

    // MARK: Presentation

    private struct Outcome: Sendable {
        var findings: [LintFinding]
        var facts: MediaPlaylistFacts?
        var codecs: [MediaKind: Set<MediaCodec>]?
    }

    private func check(
        _ multivariant: MultivariantPlaylist, loader: PlaylistLoader, _ options: AssetOptions?
    ) async -> LintReport {
        let comparison = CodecComparison(multivariant, isDeep ? options : nil)
        var presentation = PresentationLint(multivariant)
        let references = Array(presentation.references.prefix(Self.maximumPlaylistCount))
        let budget = Self.maximumSizeRequestCount / max(1, references.count)
        let variables = multivariant.variables
        let source = multivariant.url
        let clock = SourceClock.host
        let deadline = Deadline(clock, after: Self.longestRun)

        var outcomes: [Int: Outcome] = [:]
        await withTaskGroup(of: (Int, Outcome).self) { group in
            var next = 0
            func begin() {
                guard next < references.count else { return }
                let (index, reference) = (next, references[next])
                next += 1
                group.addTask {
                    let outcome = await load(
                        reference, from: source, variables, loader, sizes: isDeep ? budget : 0, comparison, deadline)
                    return (index, outcome)
                }
            }
            for _ in 0..<Self.maximumRequestsAtATime { begin() }
            for await (index, outcome) in group {
                outcomes[index] = outcome
                begin()
            }
        }

        var findings = multivariant.lint()
        var measured = 0
        var codecs: [String: [MediaKind: Set<MediaCodec>]] = [:]
        for (index, reference) in references.enumerated() {
            guard let outcome = outcomes[index] else { continue }
            findings += outcome.findings
            if let url = reference.url { codecs[url] = outcome.codecs }
            if let facts = outcome.facts {
                presentation.add(facts, for: reference)
                measured += facts.measuredSegmentCount
            }
        }
        findings += presentation.findings()
        findings += comparison.findings(codecs) { url in references.first { $0.url == url }?.line }
        if isDeep { findings += await Self.steeringFindings(of: multivariant, loader) }
        let left = presentation.references.count - references.count
        if left > 0 { findings.append(Self.notChecked("\(left) more media playlists")) }
        return LintReport(
            findings: findings, playlistCount: 1 + references.count, measuredSegmentCount: isDeep ? measured : nil)
    }

    private static func steeringFindings(
        of playlist: MultivariantPlaylist, _ loader: PlaylistLoader
    ) async -> [LintFinding] {
        let report = await SteeringReport(of: playlist, loader)
        switch report?.result {
        case nil: return []
        case .success(let manifest): return manifest.lint(for: playlist, url: report?.url)
        case .failure(let error):
            let issue = PlaylistIssue(rule: .steeringManifest, text: "the steering manifest: \(error.description)")
            return [
                LintFinding(issue, remedy: "serve a manifest there, or remove EXT-X-CONTENT-STEERING", url: report?.url)
            ]
        }
    }

    private func load(
        _ reference: PresentationLint.Reference, from source: String, _ variables: [String: String],
        _ loader: PlaylistLoader, sizes: Int, _ comparison: CodecComparison, _ deadline: Deadline
    ) async -> Outcome {
        guard let url = reference.url else {
            return failed("\"\(reference.uri)\" is not a URI reference", reference)
        }
        guard !deadline.isOver else {
            return Outcome(findings: [Self.notChecked("this playlist, because the time limit was reached", url: url)])
        }
        var options = PlaylistParser.Options()
        options.importedVariables = variables
        do {
            switch try await loader.load(url, namedBy: source, options) {
            case .multivariant: return failed("is a multivariant playlist, not a media playlist", reference)
            case .media(let playlist):
                var findings = playlist.lint()
                for index in findings.indices { findings[index].url = url }
                var rates: SegmentBitRates?
                if sizes > 0 {
                    let measured = await measure(playlist, loader, limit: sizes, deadline)
                    rates = SegmentBitRates(of: playlist, byteCounts: measured.byteCounts)
                    findings += Self.findings(of: measured)
                    let wanted = playlist.segments.count { !$0.isGap } - measured.missing.count
                    if let count = rates?.measuredSegmentCount, count < wanted {
                        findings.append(
                            Self.notChecked(
                                "the sizes of \(wanted - count) of \(wanted) segments\(measured.reason)", url: url))
                    } else if rates == nil, wanted > 0 {
                        findings.append(
                            Self.notChecked("segment sizes: no segment could be loaded\(measured.reason)", url: url)
                        )
                    }
                }
                let codecs = deadline.isOver ? nil : await comparison.codecs(of: playlist)
                return Outcome(
                    findings: findings, facts: MediaPlaylistFacts(playlist, bitRates: rates), codecs: codecs)
            }
        } catch {
            let failure = PlaylistInput.Failure(error)
            // Some details already begin with the cause.
            let detail = failure.detail.map { $0.hasPrefix(failure.cause) ? $0 : "\(failure.cause): \($0)" }
            return failed(detail ?? failure.cause, reference)
        }
    }

    /// Reports an unusable media playlist as an error in the line that names it.
    private func failed(_ text: String, _ reference: PresentationLint.Reference) -> Outcome {
        let place = reference.line.map { "named in line \($0): " } ?? ""
        let issue = PlaylistIssue(rule: .mediaPlaylist, text: place + text)
        return Outcome(
            findings: [
                LintFinding(
                    issue, remedy: "serve a media playlist there, or remove the entry",
                    url: reference.url ?? reference.uri
                )
            ])
    }

    // MARK: Sizes

    private struct Sizes: Sendable {
        var byteCounts: [Int?]
        var missing: [(url: String, failure: LoadingFailure)] = []
        var obstacle: LoadingFailure?

        var reason: String {
            obstacle.map { " (\($0.cause)\($0.detail.map { ": \($0)" } ?? ""))" } ?? ""
        }
    }

    private static func findings(of sizes: Sizes) -> [LintFinding] {
        var findings = sizes.missing.prefix(maximumMissingCount).map { url, failure in
            LintFinding(
                PlaylistIssue(
                    rule: .segment, text: failure.cause + (failure.detail.map { " (\($0))" } ?? "")),
                remedy: "serve the segment, or mark it with EXT-X-GAP", url: url)
        }
        let left = sizes.missing.count - findings.count
        if left > 0, let first = sizes.missing.dropFirst(findings.count).first {
            findings.append(
                LintFinding(
                    PlaylistIssue(rule: .segment, text: "\(Decimals.count(left, "more segment")) could not be loaded"),
                    remedy: "serve them, or mark them with EXT-X-GAP", url: first.url))
        }
        return findings
    }

    private static let maximumMissingCount = 20

    /// Measures segments that are not byte ranges, with at most `limit` requests.
    private func measure(
        _ playlist: MediaPlaylist, _ loader: PlaylistLoader, limit: Int, _ deadline: Deadline
    ) async -> Sizes {
        var sizes = Sizes(byteCounts: [Int?](repeating: nil, count: playlist.segments.count))
        var asked = 0
        var failures = 0
        for (index, segment) in playlist.segments.enumerated() {
            guard asked < limit, failures < Self.maximumSizeFailureCount, !deadline.isOver else { break }
            guard segment.byteRange == nil, !segment.isGap, let url = playlist.resolve(segment.uri) else { continue }
            asked += 1
            do {
                sizes.byteCounts[index] = try await loader.byteCount(of: url, namedBy: playlist.url)
                failures = 0
            } catch {
                guard let error = error.loadingError else {
                    failures += 1
                    continue
                }
                let failure = LoadingFailure(error, as: .listed)
                // With 405, 416 or 501 the server only rejects this kind of request.
                if failure.kind == .notFound, ![405, 416].contains(error.status ?? 0), error.code != .badRange {
                    sizes.missing.append((url, failure))
                    failures = 0
                } else {
                    sizes.obstacle = failure
                    failures += 1
                }
            }
        }
        return sizes
    }

    /// After this many failures in a row, the remaining segments are not requested.
    private static let maximumSizeFailureCount = 3
}

private struct Deadline: Sendable {
    private let isPast: @Sendable () -> Bool
    var isOver: Bool { isPast() }

    init(_ clock: some Clock<Duration>, after duration: Duration) {
        let end = clock.now.advanced(by: duration)
        isPast = { clock.now >= end }
    }
}
