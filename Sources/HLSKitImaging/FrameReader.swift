import HLSKitAsset
import HLSKitLoading
import HLSKitMedia
import HLSKitNetwork
import HLSKitPlayback

struct FrameReader {
    struct Output {
        var samples: [MediaSample] = []
        /// The timestamp of the very first audio or video sample, and its track. It is nil after it has been reported.
        var first: (pts: Int64, track: MediaTrack)?
    }

    private var demuxer: (any Demuxer)?
    private var probe: [UInt8] = []
    private let initialization: MP4InitializationSection?
    private let decryption: DecryptionBox?
    private let sampleDecryption: SampleDecryption?
    private var tracks: [MediaTrack]
    private var hasReportedFirst = false

    /// - Parameter tables: The bytes of a transport stream to read before the segment.
    init(
        initialization: MP4InitializationSection? = nil, tables: [UInt8] = [], decryption: DecryptionBox? = nil,
        sampleDecryption: SampleDecryption? = nil
    ) {
        self.initialization = initialization
        self.decryption = decryption
        self.sampleDecryption = sampleDecryption
        tracks = initialization?.tracks ?? []
        probe = tables
    }

    var track: MediaTrack? { tracks.first { $0.mediaType == .video } }
    var hasNoVideo: Bool { !tracks.isEmpty && track == nil }

    /// Reads the next bytes. Returns the samples before a fault, and throws the fault only if there are none.
    mutating func append(_ bytes: [UInt8], isEnd: Bool = false) throws -> Output {
        var clear = try decryption?.decrypt(bytes) ?? bytes
        if isEnd, let decryption { clear += try decryption.finish().bytes }
        var events: [DemuxerEvent] = []
        var failure: (any Error)?
        do {
            try demux(clear, isEnd: isEnd, to: &events)
        } catch {
            failure = error
        }
        let output = try take(events)
        if let failure, output.samples.isEmpty { throw failure }
        return output
    }

    private mutating func demux(_ bytes: [UInt8], isEnd: Bool, to events: inout [DemuxerEvent]) throws(MediaError) {
        var bytes = bytes
        if demuxer == nil {
            probe += bytes
            guard let container = ContainerProbe.identify(probe[...], isComplete: isEnd) else { return }
            demuxer = try container.makeDemuxer(initialization: initialization)
            ContainerProbe.removeImage(from: &probe, before: container)
            bytes = probe
            probe = []
        }
        try demuxer?.append(bytes[...], to: &events)
        if isEnd { try demuxer?.finish(to: &events) }
    }

    private mutating func take(_ events: [DemuxerEvent]) throws -> Output {
        var output = Output()
        for event in events {
            switch event {
            case .tracks(let tracks): self.tracks = tracks
            case .sample(let sample):
                guard let track = tracks.first(where: { $0.id == sample.trackID }) else { continue }
                if !hasReportedFirst, track.mediaType == .video || track.mediaType == .audio {
                    hasReportedFirst = true
                    output.first = (sample.pts, track)
                }
                guard track.id == self.track?.id else { continue }
                output.samples.append(try decrypted(sample, of: track))
            case .eventMessage, .unreadTrack, .note: break
            }
        }
        return output
    }

    private func decrypted(_ sample: MediaSample, of track: MediaTrack) throws(DecryptionError) -> MediaSample {
        guard let sampleDecryption else {
            guard sample.encryption == nil else {
                throw DecryptionError(code: .badSample, text: "encrypted for a key system")
            }
            return sample
        }
        return try sampleDecryption.decrypt(sample, track.codec)
    }
}
