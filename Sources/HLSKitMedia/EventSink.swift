/// Collects the results of a demuxer, announces tracks before their samples, and limits the log.
struct EventSink: Sendable {
    var events: [DemuxerEvent] = []
    private(set) var tracks: [MediaTrack] = []
    private var isDirty = true
    private var noteCount = 0
    private var limit = SmallSampleLimit()

    /// Malicious input can cause a note for each packet.
    private static let maxNoteCount = 64

    mutating func note(_ text: @autoclosure () -> String) {
        noteCount += 1
        if noteCount < Self.maxNoteCount {
            events.append(.note(text()))
        } else if noteCount == Self.maxNoteCount {
            events.append(.note("further notes about this segment are suppressed"))
        }
    }

    mutating func omit(_ mediaType: MediaKind, name: String) {
        events.append(.unreadTrack(mediaType, name: name))
    }

    mutating func emit(_ sample: MediaSample) {
        guard limit.admits(sample.data.count) else {
            if limit.omittedCount == 1 { note(SmallSampleLimit.note) }
            return
        }
        announce()
        events.append(.sample(sample))
    }

    mutating func emit(_ message: EventMessage) {
        announce()
        events.append(.eventMessage(message))
    }

    mutating func update(_ track: MediaTrack) {
        if let index = tracks.firstIndex(where: { $0.id == track.id }) {
            guard tracks[index] != track else { return }
            tracks[index] = track
        } else {
            tracks.append(track)
        }
        isDirty = true
    }

    mutating func replaceTracks(_ tracks: [MediaTrack]) {
        guard self.tracks != tracks else { return }
        self.tracks = tracks
        isDirty = true
    }

    mutating func announce() {
        guard isDirty, !tracks.isEmpty else { return }
        isDirty = false
        events.append(.tracks(tracks))
    }
}
