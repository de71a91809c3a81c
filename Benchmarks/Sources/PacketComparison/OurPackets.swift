import HLSKitMedia

/// The packets from our demuxers, by track, in a form that can be compared with ffprobe's packets.
struct OurPackets {
    var tracks: [Int: (track: MediaTrack, packets: [PacketFacts])] = [:]
    var notes: [String] = []
    /// Whether a track has captions, for which ffprobe reports no packets.
    var isText = false
    private var isTransportStream = false
    private var isPackedAudio = false

    init(_ source: SegmentSource) {
        do throws(MediaError) {
            switch ContainerProbe.identify(source.bytes[...], isComplete: true) {
            case .transportStream?:
                isTransportStream = true
                try read(TransportStreamDemuxer(), source.bytes)
            case .packedAudio?:
                isPackedAudio = true
                try read(PackedAudioDemuxer(), source.bytes)
            case .mp4?:
                if let map = source.map {
                    try read(
                        FragmentedMP4Demuxer(initialization: MP4InitializationSection(parsing: map[...])),
                        source.bytes)
                } else {
                    try read(ProgressiveMP4Demuxer(), source.bytes)
                }
            case .webVTT?: isText = true
            case .unknown(let text)?: notes.append("no media: \(text)")
            case nil: notes.append("no media")
            }
        } catch {
            notes.append("\(error)")
        }
    }

    private mutating func read(_ demuxer: consuming some Demuxer, _ bytes: [UInt8]) throws(MediaError) {
        var events: [DemuxerEvent] = []
        defer { take(events) }
        for start in stride(from: 0, to: bytes.count, by: 65_536) {
            try demuxer.append(bytes[start..<min(start + 65_536, bytes.count)], to: &events)
        }
        try demuxer.finish(to: &events)
    }

    private mutating func take(_ events: [DemuxerEvent]) {
        for event in events {
            switch event {
            case .tracks(let list):
                for track in list { tracks[track.id] = (track, tracks[track.id]?.packets ?? []) }
            case .sample(let sample):
                tracks[sample.trackID]?.packets.append(
                    PacketFacts(pts: sample.pts, dts: sample.dts, size: sample.data.count, isKey: sample.isSync))
            case .eventMessage: break
            case .unreadTrack(_, let name): notes.append("a track of \(name) is not read")
            case .note(let text): notes.append(text)
            }
        }
    }

    // MARK: Comparison

    mutating func compare(with theirs: ProbedPackets, name: String, report: inout Report) {
        for stream in theirs.streams where !stream.packets.isEmpty {
            guard let (track, packets) = tracks.removeValue(forKey: isPackedAudio ? 0 : stream.id) else {
                report.differences.append("\(name): we have no track \(stream.id) (\(stream.codec))")
                continue
            }
            let (first, theirFirst) = (packets.first?.pts, stream.packets.first?.pts)
            if isPackedAudio, first != theirFirst {
                report.explained["packed audio whose tag says when it begins", default: 0] += 1
            }
            compare(
                packets.map { comparable($0, first: first) },
                stream.packets.map { comparable($0, stream, first: theirFirst) }, track,
                name: "\(name) track \(track.id)", report: &report)
        }
        for (id, left) in tracks where !left.packets.isEmpty {
            report.differences.append("\(name): ffprobe has no track \(id) (\(left.track.codec.rawValue))")
        }
    }

    /// Returns the packet with timestamps modulo 2³³, or relative to the first packet in packed audio.
    private func comparable(_ packet: PacketFacts, first: Int64?) -> PacketFacts {
        var packet = packet
        if isPackedAudio {
            packet.pts = packet.pts.map { $0 - (first ?? 0) }
            packet.dts = packet.pts
        } else if isTransportStream {
            packet.pts = packet.pts.map { $0 & 0x1_ffff_ffff }
            packet.dts = packet.dts.map { $0 & 0x1_ffff_ffff }
        }
        return packet
    }

    private func comparable(_ packet: PacketFacts, _ stream: ProbedPackets.Stream, first: Int64?) -> PacketFacts {
        var packet = packet
        if isPackedAudio {
            let base = stream.timeBase
            packet.pts = packet.pts.map { pts in
                let exact = (pts - (first ?? 0)) * Int64(base.numerator) * 90_000
                return (exact + Int64(base.denominator / 2)) / Int64(base.denominator)
            }
            packet.dts = packet.pts
        } else if isTransportStream {
            packet.pts = packet.pts.map { $0 & 0x1_ffff_ffff }
            packet.dts = packet.dts.map { $0 & 0x1_ffff_ffff }
        }
        return packet
    }

    private func compare(
        _ ours: [PacketFacts], _ theirs: [PacketFacts], _ track: MediaTrack, name: String, report: inout Report
    ) {
        report.packetCount += ours.count
        if ours.count != theirs.count {
            report.differences.append("\(name): \(ours.count) packets, ffprobe has \(theirs.count)")
        }
        for (index, (our, their)) in zip(ours, theirs).enumerated() where our != their {
            var rest = our
            for (reason, change) in reasons(our, their, track) {
                change(&rest)
                report.explained[reason, default: 0] += 1
            }
            if rest != their { report.differences.append("\(name) packet \(index): \(our), ffprobe: \(their)") }
        }
    }

    private typealias Reason = (name: String, change: (inout PacketFacts) -> Void)

    /// Returns the known reasons for a difference, which `Tests/Fixtures/media/README.md` lists.
    private func reasons(_ our: PacketFacts, _ their: PacketFacts, _ track: MediaTrack) -> [Reason] {
        guard track.mediaType == .audio, isTransportStream || isPackedAudio else { return [] }
        var reasons: [Reason] = []
        if track.codec == .aac, their.size - our.size == 7 {
            reasons.append(("AAC without its ADTS header", { $0.size += 7 }))
        }
        if let ourTime = our.pts, let theirTime = their.pts, abs(ourTime - theirTime) == 1 {
            reasons.append(
                (
                    "audio time counted in samples and rounded once (1/90 000 s)",
                    { packet in
                        packet.pts = their.pts
                        packet.dts = their.dts
                    }
                ))
        }
        return reasons
    }
}
