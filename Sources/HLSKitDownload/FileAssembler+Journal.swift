import HLSKitMedia
import HLSKitTime

extension DownloadJournal {
    func storedSegments(of lane: String, in window: TimeWindow) -> [Segment] {
        segments(of: lane).filter { $0.file != nil && $0.isInside(window) }
    }
}

extension DownloadJournal.Segment {
    func isInside(_ window: TimeWindow) -> Bool {
        window.overlaps(.microseconds(start), .microseconds(start + duration))
    }
}

extension MediaTrackLabel {
    init(_ lane: DownloadJournal.Lane) {
        self.init()
        guard lane.kind != .main else { return }
        name = lane.name
        isDefault = lane.isDefault
        isForced = lane.isForced
        let characteristics = lane.characteristics ?? ""
        describesAudio = characteristics.contains("public.accessibility.describes-music-and-sound")
        describesVideo = characteristics.contains("public.accessibility.describes-video")
    }
}
