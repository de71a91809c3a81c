import Foundation
import HLSKitCore
import TestSupport
import Testing

@Suite("Selecting options of an item", .timeLimit(.minutes(10)))
struct PlayerItemSelectionTests {
    private static let master = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="audio-en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",URI="audio-de.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="subtitles-en.m3u8"
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="CC",LANGUAGE="fr",INSTREAM-ID="CC9"
        #EXT-X-STREAM-INF:BANDWIDTH=127446,CODECS="avc1.4d400d,mp4a.40.2",AUDIO="a",SUBTITLES="s",CLOSED-CAPTIONS="c"
        video-180p.m3u8

        """

    @Test("I03: one option is selected at a time, or none if the group allows it, and never another group's")
    func select() throws {
        let audio = try Data(contentsOf: URL(fileURLWithPath: SampleMedia.folder + "/audio-en.m3u8"))
        let sample = try VirtualSample(
            end: .seconds(12), quality: nil, path: "m.m3u8",
            files: ["m.m3u8": Array(Self.master.utf8), "audio-de.m3u8": Array(audio)]
        ) { $0.preferredLanguages = [] }
        let item = sample.item
        func selected() -> [String?] {
            [.audible, .legible].map { item.currentMediaSelection[$0]?.displayName }
        }
        var isChecked = false
        try sample.play { time in
            guard time == .seconds(2) else { return }
            let audible = try #require(item.mediaSelectionGroup(for: .audible))
            let legible = try #require(item.mediaSelectionGroup(for: .legible))
            let (english, german) = (audible.options[0], audible.options[1])
            let (subtitles, unknown) = (legible.options[0], legible.options[1])
            #expect(selected() == ["English", nil])
            #expect(item.select(subtitles, in: audible) == false)
            #expect(item.select(german, in: legible) == false)
            #expect(item.select(nil, in: audible) == false)
            #expect(!unknown.isPlayable && item.select(unknown, in: legible) == false)
            #expect(selected() == ["English", nil])
            #expect(item.select(german, in: audible) == true)
            #expect(selected() == ["Deutsch", nil])
            #expect(item.select(subtitles, in: legible) == true)
            #expect(selected() == ["Deutsch", "English"])
            #expect(item.select(nil, in: legible) == true)
            #expect(item.select(english, in: audible) == true)
            #expect(selected() == ["English", nil])
            isChecked = true
        }
        #expect(isChecked)
        #expect(sample.timeControlChanges.count(where: { $0.new == .playing }) == 1)
    }
}
