import HLSKitCodec
import HLSKitEngine
import HLSKitMedia
import HLSKitPlaylist

/// The tracks of a lane that were announced to outputs. Decides when a track must be announced again.
struct AnnouncedTracks: Sendable {
    private var current: [MediaKind: MediaTrack] = [:]
    private var offsets: [MediaKind: Duration] = [:]

    var isEmpty: Bool { current.isEmpty }

    /// Handles a sample of a track. Returns `nil` if it may follow the earlier samples without an announcement.
    ///
    /// - Parameter isFirst: Whether this is the segment's first sample of its kind.
    mutating func take(
        _ track: MediaTrack, of job: SegmentJob, offset: Duration, isFirst: Bool
    ) -> (track: MediaTrack, isNewSequence: Bool)? {
        let type = track.mediaType
        // With a new offset, samples still in the decoder would get wrong times.
        let isMoved = offsets[type].map { $0 != offset } ?? false
        offsets[type] = offset
        let isNewSequence = (job.startsNewSequence || isMoved) && isFirst
        if !isNewSequence, current[type]?.isContinued(by: track) == true { return nil }
        var track = track
        if type == .video { track.complete(with: job.videoRange) }
        current[type] = track
        return (track, isNewSequence)
    }

    /// Called when loaded media is dropped: timelines may get other offsets.
    mutating func flush() { offsets = [:] }
}

extension MediaTrack {
    /// Whether the decoder opened for this track can decode samples of `other`.
    ///
    /// Properties that the stream itself carries, such as the size in repeated parameter sets, need no new decoder. The
    /// first parameter sets do, because nothing could be decoded before them.
    fileprivate func isContinued(by other: MediaTrack) -> Bool {
        if mediaType == .video, width == 0, other.width > 0 { return false }
        return codec == other.codec && timescale == other.timescale && configuration == other.configuration
            && sampleEntry == other.sampleEntry && encryption == other.encryption
    }
}

extension MediaTrack {
    /// Adds the color description from the playlist if neither the stream nor the container has one.
    ///
    /// A dynamic range of PQ or HLG implies BT.2020. The decoder prefers the stream's own description.
    fileprivate mutating func complete(with range: VideoRange?) {
        let transfer: TransferFunction
        switch range {
        case .pq: transfer = .pq
        case .hlg: transfer = .hlg
        default: return
        }
        var color =
            colorInformation ?? ColorInformation(colorPrimaries: 2, transferCharacteristics: 2, matrixCoefficients: 2)
        if color.colorPrimaries == 2 { color.colorPrimaries = ColorPrimaries.bt2020.rawValue }
        if color.transferCharacteristics == 2 { color.transferCharacteristics = transfer.rawValue }
        if color.matrixCoefficients == 2 { color.matrixCoefficients = YCbCrMatrix.bt2020NonConstantLuminance.rawValue }
        colorInformation = color
    }
}
