import HLSKitEngine
import HLSKitMedia
import HLSKitSelection

/// One lane of an ``EngineHarness``. Segments pass through it in order, with the times of their playlist.
struct HarnessLane {
    private struct Reader {
        var job: SegmentJob
        var share = 0.0
        var reportedShare = 0.0
        var hasReportedTracks = false
        var isComplete = false
        var failure: SegmentFailure?
        var hasFailed = false
        var missing = Duration.zero
        var lead = Duration.zero

        var start: Duration { job.start - lead }
        var duration: Duration { job.duration - missing }
    }

    private var readers: [Reader] = []
    private var lastReplacement: Int?
    var isEnded = false
    var isDrained = false
    /// The end of the demuxed media.
    private(set) var end: Duration?

    /// Begins a segment. A repeated segment restarts at its first byte.
    mutating func begin(_ job: SegmentJob, missing: Duration = .zero, lead: Duration = .zero) {
        guard let index = readers.firstIndex(where: { $0.job.id == job.id }) else {
            return readers.append(Reader(job: job, missing: missing, lead: lead))
        }
        readers[index] = Reader(job: job, missing: missing, lead: lead)
    }

    mutating func abandon(_ segment: SegmentID) {
        readers.removeAll { $0.job.id == segment }
    }

    mutating func arrive(_ segment: SegmentID, share: Double) {
        guard let index = readers.firstIndex(where: { $0.job.id == segment }) else { return }
        readers[index].share = share
    }

    mutating func complete(_ segment: SegmentID, spoiledBy failure: SegmentFailure?) {
        guard let index = readers.firstIndex(where: { $0.job.id == segment }) else { return }
        readers[index].isComplete = true
        readers[index].failure = failure
    }

    /// Returns the demuxer's next fact, or `nil` if it has to wait.
    mutating func next(having resources: Set<ResourceID>, playhead: Duration) -> MediaFact? {
        guard var reader = readers.first, !reader.hasFailed else { return nil }
        let job = reader.job
        let needed = [job.map, job.key?.resource, job.mapKey?.resource].compactMap(\.self)
        guard needed.allSatisfy(resources.contains) else { return nil }
        defer { if !readers.isEmpty, readers[0].job.id == job.id { readers[0] = reader } }
        if let failure = reader.failure {
            reader.hasFailed = true
            return .segmentFailed(job.id, failure)
        }
        if reader.share > 0, let number = job.replacement, number != lastReplacement {
            lastReplacement = number
            return .replaced(
                job.id.lane, number: number, from: max(job.start, playhead + RenditionChooser.audioChangeLead))
        }
        if reader.share > 0, !reader.hasReportedTracks {
            reader.hasReportedTracks = true
            let type: MediaKind = job.id.lane == .main ? .video : .audio
            let codec: MediaCodec = type == .video ? .h264 : .aac
            return .tracks(job.id, [MediaTrack(id: 1, mediaType: type, codec: codec, timescale: 90_000)])
        }
        if reader.isComplete {
            readers.removeFirst()
            let end = reader.start + reader.duration
            let presentedEnd = min(end, job.window.until ?? end)
            self.end = max(self.end ?? presentedEnd, presentedEnd)
            return .segmentEnded(job.id, start: reader.start, end: end)
        }
        guard reader.share > reader.reportedShare else { return nil }
        reader.reportedShare = reader.share
        return .demuxed(job.id, upTo: reader.start + reader.duration * reader.share)
    }
}
