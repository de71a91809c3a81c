import HLSGetKit
import HLSKitCore

/// Decides whether playback that ended without an error is complete, so that missing output is always reported.
struct PlayVerdict: Sendable, Equatable {
    struct Output: Sendable, Equatable {
        var path: String
        var media: (video: Bool, audio: Bool)
        var isEmpty: Bool
        /// Whether an existing file of that name was left unchanged.
        var hasOldFile = false
        /// Whether no frame of the stream's video can be decoded without earlier ones.
        var lacksVideo = false

        static func == (one: Output, other: Output) -> Bool {
            one.path == other.path && one.media == other.media && one.isEmpty == other.isEmpty
                && one.hasOldFile == other.hasOldFile && one.lacksVideo == other.lacksVideo
        }
    }

    static let lacksVideo = "the file has no video: each frame depends on one before the start"

    var url: String
    var from: TimePosition?
    var to: TimePosition?
    var outputs: [Output] = []
    var decodes = true
    var endsByClock = false
    var endsByKey = false
    var media: Set<MediaKind> = []
    var state = PlayerState()

    /// Why nothing was played or written, or which output is empty, or `nil` if all outputs have content.
    var failure: HLSError? {
        if outputs.isEmpty { return hasPlayed && !startsPastEnd && !endsBeforeStart ? nil : emptiness }
        guard let empty = outputs.first(where: \.isEmpty) else {
            guard !endsByKey, let output = outputs.first(where: \.lacksVideo) else { return nil }
            return HLSError(code: .incomplete, urlString: output.path, cause: "incomplete", detail: Self.lacksVideo)
        }
        var error = outputs.allSatisfy(\.isEmpty) ? emptiness : missingKind(for: empty)
        let names = outputs.filter(\.isEmpty).map(\.path).joined(separator: ", ")
        let rest = outputs.contains { $0.isEmpty && $0.hasOldFile } ? ", the existing file is unchanged" : ""
        error.detail = [error.detail, "nothing was written to \(names)\(rest)"].compactMap(\.self).joined(
            separator: "; ")
        return error
    }

    private var hasPlayed: Bool {
        let statistics = state.statistics
        guard decodes else { return statistics.numberOfSegments > 0 }
        return statistics.numberOfDecodedVideoFrames + statistics.numberOfDecodedAudioFrames > 0
    }

    private var startsPastEnd: Bool { Self.startPastEnd(from, state.duration, url: url) != nil }

    /// The error for a start past the end of the stream, or `nil` if the start is valid or the duration is unknown.
    static func startPastEnd(_ from: TimePosition?, _ duration: MediaTime, url: String) -> HLSError? {
        guard case .fromStart(let time)? = from, let duration = duration.finiteSeconds, time / .seconds(1) >= duration
        else { return nil }
        return HLSError(
            code: .notAvailable, urlString: url, cause: "the stream ends before the requested start",
            detail: "it lasts \(Decimals.clock(duration))")
    }

    /// Whether the requested range ends before the first media. Media decoded only as a lead-in was not requested.
    private var endsBeforeStart: Bool {
        guard case .fromStart(let time)? = to, let start = state.currentTime.finiteSeconds else { return false }
        return time / .seconds(1) < start - 0.001
    }

    private var emptiness: HLSError {
        let start = state.currentTime.finiteSeconds
        if let error = Self.startPastEnd(from, state.duration, url: url) { return error }
        if endsBeforeStart, let start {
            return HLSError(
                code: .notAvailable, urlString: url, cause: "--to is before the point where playback began",
                detail: "it began at \(Decimals.clock(start))")
        }
        let isTooEarly = HLSError(
            code: .notAvailable, urlString: url, cause: "--until came before there was anything to play")
        if endsByKey {
            return HLSError(code: .notAvailable, urlString: url, cause: "ended before there was anything to write")
        }
        if endsByClock, state.statistics.numberOfSegments == 0 { return isTooEarly }
        if let empty = outputs.first(where: \.isEmpty), !has(empty.media) { return missingKind(for: empty) }
        let damaged = state.statistics.numberOfDamagedSamples
        if damaged > 0 {
            return HLSError(
                code: .badMedia, urlString: url, cause: "nothing in the stream could be decoded",
                detail: "\(Decimals.count(damaged, "sample")) damaged")
        }
        if state.statistics.numberOfSegments == 0 {
            switch from {
            case .date, .segment:
                return HLSError(
                    code: .notAvailable, urlString: url, cause: "the stream ends before the requested start")
            default: break
            }
            return HLSError(
                code: .notAvailable, urlString: url, cause: "the stream ended before there was anything to play")
        }
        if endsByClock { return isTooEarly }
        return HLSError(code: .badMedia, urlString: url, cause: "the stream has nothing to play")
    }

    private func has(_ kinds: (video: Bool, audio: Bool)) -> Bool {
        kinds.video && media.contains(.video) || kinds.audio && media.contains(.audio)
    }

    private func missingKind(for output: Output) -> HLSError {
        let kind = output.media.video && output.media.audio ? "media" : output.media.video ? "video" : "audio"
        return HLSError(code: .badMedia, urlString: url, cause: "the stream has no \(kind)")
    }
}
