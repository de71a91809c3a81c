import HLSKitCodec
import HLSKitEngine
import HLSKitMedia
import HLSKitOutput
import HLSKitPlayback
import HLSKitTime
import TestSupport
import Testing

@Suite("I04: Tracks of an item", .timeLimit(.minutes(10)))
struct PlayerItemTrackTests {
    private static func track(_ type: MediaKind, of item: PlayerItem) throws -> PlayerItemTrack {
        try #require(item.tracks.first { $0.mediaType == type })
    }

    @Test("disabled video is neither decoded nor loaded, and returns without a pause")
    func video() throws {
        let sample = try VirtualSample(end: .seconds(30))
        sample.item.preferences.preferredForwardBufferDuration = .seconds(4)
        let writer = CapturingWriter([.audio])
        sample.item.add(writer)
        let (output, frames) = (VideoOutput(), Recorder<VideoFrame>())
        sample.record(output.frames(), in: frames)
        try sample.item.add(output)
        var rates: Set<Double> = []
        var decoded: [Int] = []
        try sample.play { time in
            if time == .seconds(4) {
                let track = try Self.track(.video, of: sample.item)
                #expect(track.formatDescription?.codec == .h264 && track.isEnabled)
                track.isEnabled = false
            }
            if time == .seconds(5) || time == .seconds(20) {
                decoded.append(sample.player.state.statistics.numberOfDecodedVideoFrames)
            }
            if time == .seconds(20) { try Self.track(.video, of: sample.item).isEnabled = true }
            if time > .seconds(3) { rates.insert(sample.player.state.timebaseRate) }
        }
        #expect(rates.subtracting([0]) == [1])
        #expect(sample.timeControlChanges.count(where: { $0.new == .playing }) == 1)
        #expect(decoded.count == 2 && decoded.first == decoded.last)
        #expect(writer.largestAudioGap < .microseconds(30))
        let times = frames.elements.compactMap(\.itemTime?.seconds)
        #expect(!times.contains { $0 > 6 && $0 < 18 })
        let late = times.filter { $0 >= 18 }
        #expect(try #require(late.first) < 22)
        #expect(try #require(late.last) > 29.9)
        let loads = sample.events.elements.compactMap { event -> Double? in
            guard case .segmentLoaded(let load) = event.kind, load.urlString.contains("video") else { return nil }
            return load.itemTime.seconds
        }
        #expect(loads.contains { $0 < 10 } && loads.contains { $0 > 20 })
        #expect(!loads.contains { $0 > 10 && $0 < 16 })
    }

    @Test("disabled audio is silent, and returns")
    func audio() throws {
        let sample = try VirtualSample(end: .seconds(30))
        sample.item.preferences.preferredForwardBufferDuration = .seconds(4)
        let writer = CapturingWriter([.audio])
        sample.item.add(writer)
        try sample.item.add(VideoOutput())
        try sample.play { time in
            if time == .seconds(4) { try Self.track(.audio, of: sample.item).isEnabled = false }
            if time == .seconds(20) { try Self.track(.audio, of: sample.item).isEnabled = true }
        }
        #expect(sample.timeControlChanges.count(where: { $0.new == .playing }) == 1)
        let times = writer.sounds.map(\.time)
        #expect(!times.contains { $0 > .seconds(7) && $0 < .seconds(18) })
        #expect(times.contains { $0 > .seconds(23) && $0 < .seconds(24) })
        #expect(try #require(times.last) > .milliseconds(29_900))
    }

    @Test("disabled tracks stay disabled in a copy, which lists them before they are known")
    func copies() throws {
        let sample = try VirtualSample(end: .seconds(2))
        try sample.play()
        #expect(sample.item.tracks.map(\.mediaType) == [.video, .audio])
        let track = try Self.track(.audio, of: sample.item)
        track.isEnabled = false
        #expect(!track.isEnabled)
        #expect(try Self.track(.audio, of: sample.item) == track)
        let copy = sample.item.copy()
        #expect(copy.tracks.map(\.mediaType) == [.audio])
        #expect(copy.tracks.first?.formatDescription == nil && copy.tracks.first?.isEnabled == false)
        #expect(copy.tracks.first?.id != track.id)
        copy.tracks.first?.isEnabled = true
        #expect(copy.tracks.isEmpty && !track.isEnabled)
    }
}
