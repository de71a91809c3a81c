public import HLSCaptions
public import HLSMedia
public import HLSTime
import Synchronization

/// Takes the closed captions (CEA-608 and CEA-708) out of the video that passes, without decoding the video.
///
/// An output of a ``PlayerItem``: `item.add(collector)`. A caption is there when it has ended on screen.
public final class ClosedCaptionCollector: MediaWriter {
    /// Captions that are not taken are forgotten from this number on, the oldest first.
    private static let maxCount = 100_000
    private static let timescale: Int32 = 90_000

    private struct State {
        var tracks: [MediaTrack] = []
        var reorderer = ClosedCaptionReorderer()
        var decoder = ClosedCaptionDecoder()
        var captions: [ClosedCaption] = []
        /// The latest presentation time seen, in units of 1/90 000 s.
        var last: Int64 = 0
    }

    private let state = Mutex(State())

    public init() {}

    public var takesSamples: Bool { true }
    public var mediaTypes: Set<MediaType> { [.video] }

    /// Gives the captions that have ended since the last call, on the item's timeline, in the order of their ends.
    public func takeCaptions() -> [ClosedCaption] {
        state.withLock { state in
            defer { state.captions = [] }
            return state.captions
        }
    }

    public func begin(_ tracks: [MediaTrack]) { state.withLock { $0.tracks = tracks } }

    public func write(_ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime) {
        state.withLock { state in
            guard state.tracks.indices.contains(index) else { return }
            let track = state.tracks[index]
            guard track.mediaType == .video, track.timescale > 0 else { return }
            let pts = itemTime.converted(to: Self.timescale)
            let (difference, isFar) = sample.pts.subtractingReportingOverflow(sample.dts)
            let lead = MediaTime(value: isFar ? 0 : difference, timescale: track.timescale)
                .converted(to: Self.timescale)
            guard pts.isNumeric, lead.isNumeric, pts.value.magnitude < 1 << 60, lead.value.magnitude < 1 << 60 else {
                return
            }
            let data = ClosedCaptionData(sample: sample, track: track)
            state.last = max(state.last, pts.value)
            Self.decode(state.reorderer.add(data, pts: pts.value, dts: pts.value - lead.value), &state)
        }
    }

    public func finish() {
        state.withLock { state in
            Self.decode(state.reorderer.finish(), &state)
            let end = MediaTime(value: state.last, timescale: Self.timescale)
            state.decoder.finish(at: end, to: &state.captions)
        }
    }

    private static func decode(_ entries: [ClosedCaptionReorderer.Entry], _ state: inout State) {
        for entry in entries {
            let time = MediaTime(value: entry.pts, timescale: timescale)
            state.decoder.decode(entry.data, at: time, to: &state.captions)
        }
        if state.captions.count > maxCount { state.captions.removeFirst(state.captions.count - maxCount) }
    }
}
