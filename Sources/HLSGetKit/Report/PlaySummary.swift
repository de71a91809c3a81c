import Glibc
package import HLSKitCore

/// The totals of one run. They form the document of `--json`, the `summary` line of `--progress json`, and the final
/// block for people.
package struct PlaySummary: Sendable, Equatable {
    package struct File: Sendable, Equatable {
        package var path: String
        /// `false` if the file could not be finished, or nothing was written to it.
        package var isComplete: Bool
        var byteCount: Int?
        /// The path of an unfinished file, or `nil` if it does not exist.
        var partPath: String?

        package init(path: String, isComplete: Bool, byteCount: Int? = nil, partPath: String? = nil) {
            self.path = path
            self.isComplete = isComplete
            self.byteCount = byteCount
            self.partPath = partPath
        }

        /// Creates an unfinished file, whose content has another name.
        package init(unfinished path: String) {
            let part = path + ".part"
            self.init(path: path, isComplete: false, partPath: access(part, F_OK) == 0 ? part : nil)
        }
    }

    struct VariantUse: Sendable, Equatable {
        var variant: AssetVariant
        var numberOfSegments = 0
        var byteCount = 0
        var mediaDuration = Duration.zero
    }

    var url: String
    private(set) var variants: [VariantUse] = []
    private(set) var skipped: [SkippedSegments] = []
    private(set) var missed: [SkippedSegments] = []
    private(set) var interstitials = InterstitialTally()
    /// The content that was skipped on purpose.
    private(set) var omitted: [SkippedContent] = []
    /// The number of segments skipped since the last loaded one.
    private(set) var skippedAtEnd = 0
    private(set) var numberOfRecoverableErrors = 0
    private(set) var numberOfPlaylistLoads = 0
    /// The media loaded from an item that is a media playlist.
    private var loadedWithoutVariants = Duration.zero
    package var state = PlayerState()
    package var files: [File] = []
    package var passCount = 1
    /// The number of streams, of which ``state`` has the last one's duration.
    package var streamCount = 1
    package var exitStatus = ExitStatus.done
    package var error: HLSError?
    /// Whether the item ended by itself, not by the user.
    package var hasEnded = false
    /// Clock time from the start of the player to its end.
    package var elapsed = Duration.zero

    package init(url: String) { self.url = url }

    package mutating func observe(_ event: PlayerEvent) {
        interstitials.observe(event.kind)
        switch event.kind {
        case .variantSwitched(_, let to, _):
            if !variants.contains(where: { $0.variant.id == to.id }) { variants.append(VariantUse(variant: to)) }
        case .segmentLoaded(let load):
            guard let index = variants.firstIndex(where: { $0.variant.id == load.variantID }) else {
                // A media playlist item has no variants. Otherwise this segment belongs to a rendition.
                guard variants.isEmpty else { return }
                skippedAtEnd = 0
                loadedWithoutVariants += load.mediaDuration
                return
            }
            skippedAtEnd = 0
            variants[index].numberOfSegments += 1
            variants[index].byteCount += load.byteCount
            variants[index].mediaDuration += load.mediaDuration
        case .segmentSkipped(let segments):
            skipped.append(segments)
            if !segments.isListedGap { skippedAtEnd += Self.count(segments) }
        case .segmentsMissed(let segments): missed.append(segments)
        case .contentSkipped(let content): omitted.append(content)
        case .recoverableError: numberOfRecoverableErrors += 1
        case .playlistLoaded: numberOfPlaylistLoads += 1
        default: break
        }
    }

    /// Whether any media is missing, for `--strict`.
    package var isIncomplete: Bool {
        !skipped.isEmpty || !missed.isEmpty || state.statistics.numberOfSkippedSegments > 0
            || state.statistics.numberOfDamagedSamples > 0
    }

    private static func count(_ segments: SkippedSegments) -> Int { max(0, segments.last - segments.first) + 1 }

    /// Whether too much is missing for a usable result: more than a tenth, or everything after some position.
    package var isMostlyMissing: Bool {
        func duration(_ segments: [SkippedSegments]) -> Double {
            segments.reduce(0) { $0 + $1.mediaDuration.inSeconds }
        }
        // Gaps that the playlist lists never existed.
        let gaps = skipped.filter(\.isListedGap)
        let all = duration(skipped + missed) - duration(gaps)
        let ofVariant = max(
            0, state.statistics.skippedDuration.inSeconds - duration(gaps.filter(\.isOfVariant)))
        let lost = max(ofVariant, all - ofVariant)
        // The beginning of a truncated segment was played.
        let loaded = max(
            variants.reduce(loadedWithoutVariants.inSeconds) { $0 + $1.mediaDuration.inSeconds },
            state.statistics.durationWatched.inSeconds)
        return lost > 0 && lost > (loaded + ofVariant) / 10 || skippedAtEnd > 1
    }

    /// Whether all media after some position of a VOD stream is missing; the error says why.
    package func isCutShort(by error: HLSError) -> Bool {
        [.notFound, .network, .badMedia, .contentKey].contains(error.code) && state.duration.finiteSeconds != nil
            && state.statistics.durationWatched > .zero
    }

    package func lacksSegment(_ error: HLSError) -> Bool {
        error.code == .notFound && (state.duration.finiteSeconds != nil || !state.seekableTimeRanges.isEmpty)
    }

    package var incompleteError: HLSError {
        let code = HLSError.Code.incomplete
        guard let first = (skipped.isEmpty ? missed : skipped).min(by: { $0.first < $1.first }) else {
            return HLSError(code: code, urlString: url, cause: "incomplete: damaged samples")
        }
        let others = (skipped + missed).reduce(0) { $0 + Self.count($1) } - Self.count(first)
        let range = first.first == first.last ? "segment \(first.first)" : "segments \(first.first)-\(first.last)"
        let more = others > 0 ? " and \(Decimals.count(others, "other"))" : ""
        return HLSError(
            code: code, urlString: first.urlString, cause: "incomplete: \(range)\(more) missing", detail: first.cause)
    }

    /// The declared bit rate of the loaded media in bits per second, weighted by duration, or `nil` if undeclared.
    private func declaredBitRate(_ rate: (AssetVariant) -> Double?) -> Double? {
        let rated = variants.filter { $0.variant.peakBitRate != nil && $0.mediaDuration > .zero }
        let seconds = rated.reduce(0) { $0 + $1.mediaDuration.inSeconds }
        guard seconds > 0 else { return nil }
        return rated.reduce(0) { $0 + (rate($1.variant) ?? 0) * $1.mediaDuration.inSeconds } / seconds
    }

    // MARK: JSON

    package var document: String {
        JSONValue.object([.init(name: "v", value: .integer(EventReporter.formatVersion))] + members).text
    }

    var members: [JSONValue.Member] {
        let statistics = state.statistics
        let members: KeyValuePairs<String, JSONValue> = [
            "url": .string(ErrorLine.bare(url: url)), "exit_status": .integer(Int(exitStatus.rawValue)),
            "error": EventReporter.json(error), "item_time": JSONValue(state.currentTime.finiteSeconds),
            "duration": JSONValue(state.duration.finiteSeconds),
            "duration_watched": .number(statistics.durationWatched.inSeconds),
            "elapsed": .number(elapsed.inSeconds), "started_after": JSONValue(statistics.startupTime?.inSeconds),
            "stalls": .integer(statistics.numberOfStalls),
            "stall_duration": .number(statistics.stallDuration.inSeconds),
            "variant_switches": .integer(statistics.numberOfVariantSwitches),
            "variants": .array(variants.map(Self.json)),
            // The same values as in the library's playback_summary.
            "average_bitrate": JSONValue(declaredBitRate { $0.averageBitRate ?? $0.peakBitRate }),
            "peak_bitrate": JSONValue(declaredBitRate(\.peakBitRate)),
            "throughput_estimate": JSONValue(statistics.throughputEstimate),
            "requests": .integer(statistics.numberOfRequests), "segments": .integer(statistics.numberOfSegments),
            "bytes": .integer(statistics.receivedByteCount),
            "buffered_bytes": .integer(statistics.bufferedByteCount),
            "peak_buffered_bytes": .integer(statistics.peakBufferedByteCount),
            "skipped_segments": .integer(statistics.numberOfSkippedSegments),
            "skipped_duration": .number(statistics.skippedDuration.inSeconds),
            "skipped": .array(skipped.map(Self.json)),
            "missed": .array(missed.map(Self.json)), "recoverable_errors": .integer(numberOfRecoverableErrors),
            "decoded_video_frames": .integer(statistics.numberOfDecodedVideoFrames),
            "dropped_frames": .integer(statistics.numberOfDroppedVideoFrames),
            "decoded_audio_frames": .integer(statistics.numberOfDecodedAudioFrames),
            "damaged_samples": .integer(statistics.numberOfDamagedSamples),
            "av_skew": JSONValue(statistics.audioVideoSkew?.inSeconds), "files": .array(files.map(Self.json)),
        ]
        var all = members.map { JSONValue.Member(name: $0.key, value: $0.value) }
        if let json = interstitials.json { all.append(JSONValue.Member(name: "interstitials", value: json)) }
        if !omitted.isEmpty {
            let parts = omitted.map { JSONValue.object($0.members) }
            all.append(JSONValue.Member(name: "content_skipped", value: .array(parts)))
        }
        if let live = statistics.live { all.append(JSONValue.Member(name: "live", value: Self.json(live))) }
        return all
    }

    private static func json(_ live: LiveStatistics) -> JSONValue {
        [
            "target": JSONValue(live.targetTimeOffset?.inSeconds),
            "latency": [
                "mean": JSONValue(live.meanLatency?.inSeconds),
                "p50": JSONValue(live.latency(atPercentile: 0.5)?.inSeconds),
                "p95": JSONValue(live.latency(atPercentile: 0.95)?.inSeconds),
                "max": JSONValue(live.maximumLatency?.inSeconds),
            ],
            "parts": .integer(live.numberOfParts), "blocking_reloads": .integer(live.numberOfBlockingReloads),
            "delta_updates": .integer(live.numberOfDeltaUpdates), "hints_used": .integer(live.numberOfUsedHints),
            "hints_wasted": .integer(live.numberOfWastedHints),
        ]
    }

    private static func json(_ use: VariantUse) -> JSONValue {
        [
            "variant": use.variant.json, "segments": .integer(use.numberOfSegments),
            "bytes": .integer(use.byteCount), "media_duration": .number(use.mediaDuration.inSeconds),
        ]
    }

    private static func json(_ segments: SkippedSegments) -> JSONValue {
        [
            "first_media_sequence": .integer(segments.first), "last_media_sequence": .integer(segments.last),
            "media_duration": .number(segments.mediaDuration.inSeconds),
            "url": .string(ErrorLine.bare(url: segments.urlString)), "cause": .string(segments.cause),
        ]
    }

    private static func json(_ file: File) -> JSONValue {
        [
            "path": .string(file.path), "complete": .bool(file.isComplete), "bytes": JSONValue(file.byteCount),
            "part": JSONValue(file.partPath),
        ]
    }
}

extension PlaySummary {
    package var lines: [String] {
        let statistics = state.statistics
        var lines = [playedLine]
        if statistics.numberOfStalls > 0 {
            lines.append(
                "  stalls    \(statistics.numberOfStalls), "
                    + "\(Decimals.text(statistics.stallDuration.inSeconds, places: 1)) s in total")
        }
        if let latency = statistics.live.flatMap(Self.text) { lines.append("  latency   \(latency)") }
        if let variants = variantsText { lines.append("  variants  \(variants)") }
        lines.append("  loaded    \(loadedText)")
        if let text = interstitials.text { lines.append("  inserted  \(text)") }
        if !omitted.isEmpty {
            let length = omitted.reduce(0) { $0 + ($1.timeRange.duration.finiteSeconds ?? 0) }
            lines.append("  skipped   \(Decimals.count(omitted.count, "break")), \(Decimals.length(length))")
        }
        if let losses = lossesText { lines.append("  missing   \(losses)") }
        for file in files where file.path != "-" {
            let size = file.byteCount.map { " (\(Decimals.bytes($0)))" } ?? ""
            if file.isComplete {
                lines.append("  wrote     \(TerminalText.escaped(file.path))\(size)")
            } else if let part = file.partPath {
                lines.append("  kept      \(TerminalText.escaped(part))\(size), not finished")
            }
        }
        return lines
    }

    private static func text(_ live: LiveStatistics) -> String? {
        guard let mean = live.meanLatency, let high = live.latency(atPercentile: 0.95) else { return nil }
        let texts = [mean, high].map { Decimals.text($0.inSeconds, places: 2) }
        return "\(texts[0]) s, 95 % of the time at most \(texts[1]) s"
    }

    private var playedLine: String {
        var line = "played \(Decimals.length(state.statistics.durationWatched.inSeconds))"
        if streamCount > 1 {
            line += " of \(streamCount) streams"
        } else if let duration = state.duration.finiteSeconds {
            let watched = state.statistics.durationWatched.inSeconds.rounded()
            // After a seek back, the same media is played again.
            line +=
                watched > duration.rounded() * Double(passCount) + 1
                ? " (the stream lasts \(Decimals.length(duration)))"
                : " of \(passCount > 1 ? "\(passCount) times " : "")\(Decimals.length(duration))"
        }
        line += " in \(Decimals.text(elapsed.inSeconds, places: 1)) s"
        if let startup = state.statistics.startupTime {
            line += ", started after \(Decimals.text(startup.inSeconds, places: 2)) s"
        }
        if state.statistics.numberOfStalls == 0 && state.statistics.durationWatched > .zero { line += ", no stall" }
        return line
    }

    private var variantsText: String? {
        let used = variants.filter { $0.numberOfSegments > 0 }
        guard !used.isEmpty else { return nil }
        let names = used.map { use in
            let name = use.variant.name()
            return "\(name.isEmpty ? "\(use.variant.index)" : name) for \(Decimals.length(use.mediaDuration.inSeconds))"
        }
        let switches = state.statistics.numberOfVariantSwitches
        let count = switches == 0 ? "" : " (\(switches) \(switches == 1 ? "switch" : "switches"))"
        return names.joined(separator: ", ") + count
    }

    private var loadedText: String {
        let statistics = state.statistics
        let partCount = statistics.live?.numberOfParts ?? 0
        let segmentCount = statistics.numberOfSegments - partCount
        var counts = partCount > 0 ? [Decimals.count(partCount, "part")] : []
        if partCount == 0 || segmentCount > 0 { counts.append(Decimals.count(segmentCount, "segment")) }
        var text = "\(Decimals.bytes(statistics.receivedByteCount)) in \(counts.joined(separator: " and "))"
        text += ", \(Decimals.count(statistics.numberOfRequests, "request"))"
        if let estimate = statistics.throughputEstimate, estimate.isFinite {
            text += ", network \(Decimals.bitRateWithUnit(estimate))"
        }
        if statistics.peakBufferedByteCount > 0 {
            text += ", buffered \(Decimals.bytes(statistics.peakBufferedByteCount))"
        }
        return text
    }

    private var lossesText: String? {
        let statistics = state.statistics
        var losses: [String] = []
        if statistics.numberOfSkippedSegments > 0 {
            losses.append(
                "\(Decimals.count(statistics.numberOfSkippedSegments, "segment")) skipped "
                    + "(\(Decimals.text(statistics.skippedDuration.inSeconds, places: 1)) s)")
        }
        if !missed.isEmpty {
            let count = missed.reduce(0) { $0 + max(0, $1.last - $1.first) + 1 }
            losses.append("\(Decimals.count(count, "segment")) missed")
        }
        if statistics.numberOfDroppedVideoFrames > 0 {
            losses.append("\(Decimals.count(statistics.numberOfDroppedVideoFrames, "frame")) dropped")
        }
        if statistics.numberOfDamagedSamples > 0 {
            losses.append("\(Decimals.count(statistics.numberOfDamagedSamples, "sample")) damaged")
        }
        return losses.isEmpty ? nil : losses.joined(separator: ", ")
    }
}

extension SkippedContent {
    var members: [JSONValue.Member] {
        [
            .init(name: "item_time", value: JSONValue(timeRange.start.finiteSeconds)),
            .init(name: "media_duration", value: JSONValue(timeRange.duration.finiteSeconds)),
            .init(name: "date_ranges", value: .array(dateRangeIDs.map { .string(Redaction.text($0)) })),
            .init(name: "segments", value: .integer(numberOfSegments)),
        ]
    }
}
