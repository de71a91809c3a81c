import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitSelection
import HLSKitTime

extension FileAssembler {
    /// A file whose segment has been read.
    struct ReadFile: Sendable, Hashable {
        var name: String
        var byteCount: Int
        /// The index of the lane. The segments of a lane are read in order.
        var lane: Int
        var key: ThinFile.Key?
        /// The end of the segment in item time.
        var end: Duration
    }
}

extension DownloadJournal.Segment {
    func isInside(_ window: TimeWindow) -> Bool {
        window.overlaps(.microseconds(start), .microseconds(start + duration))
    }
}

extension DownloadJournal.Lane {
    /// The label of the lane's rendition, or `nil` if the lane contains no rendition.
    var label: MediaTrackLabel? {
        name.map { name in
            MediaTrackLabel(
                name: name, language: language, isDefault: isDefault, isForced: isForced,
                characteristics: characteristics)
        }
    }
}

extension FileAssembler {
    /// A segment that could not be read. The others are written.
    struct Problem: Sendable, Hashable {
        var segment: DownloadJournal.Segment
        var text: String
        var isLocked = false

        init(_ segment: DownloadJournal.Segment, _ failure: SegmentFailure) {
            let error = HLSError(failure, url: segment.file?.name ?? "")
            (self.segment, text, isLocked) = (segment, error.cause, error.code == .contentKey)
        }
    }

    struct TimelineKey: Hashable {
        var epoch: Int
        var discontinuity: Int

        init(_ segment: DownloadJournal.Segment) { (epoch, discontinuity) = (segment.epoch, segment.discontinuity) }
    }
}
