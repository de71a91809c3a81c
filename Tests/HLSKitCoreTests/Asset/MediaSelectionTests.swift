import HLSKitCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct MediaSelectionTests {
    private static let url = "http://a.example/m.m3u8"
    private static let master = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="lo",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="1"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="hi",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="6",URI="2"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="lo",NAME="Deutsch",LANGUAGE="de-AT",AUTOSELECT=YES,URI="3"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="lo",NAME="Described",LANGUAGE="en",CHARACTERISTICS="public.accessibility.describes-video",URI="4"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="5"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Forced",LANGUAGE="en",FORCED=YES,AUTOSELECT=YES,URI="6"
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="CC",LANGUAGE="en",INSTREAM-ID="CC1"
        #EXT-X-STREAM-INF:BANDWIDTH=1000,CODECS="avc1.4d400d,mp4a.40.2",AUDIO="lo",SUBTITLES="s",CLOSED-CAPTIONS="c"
        v
        #EXT-X-STREAM-INF:BANDWIDTH=2000,CODECS="avc1.4d400d,ec-3",AUDIO="hi",SUBTITLES="s",CLOSED-CAPTIONS="c"
        w
        """

    private func makeAsset() -> (Asset, TableTransport) {
        let transport = TableTransport(texts: [Self.url: Self.master])
        return (Asset(urlString: Self.url, options: .table(transport)), transport)
    }

    @Test("I01, I02: equivalent renditions of several groups are one option")
    func audible() async throws {
        let (asset, transport) = makeAsset()
        let group = try #require(try await asset.loadMediaSelectionGroup(for: .audible))
        #expect(group.options.map(\.displayName) == ["English", "Deutsch", "Described"])
        #expect(group.options.first?.renditions.map(\.groupID) == ["lo", "hi"])
        #expect(group.options.first?.channelCount == 6)
        #expect(group.defaultOption?.displayName == "English")
        #expect(!group.allowsEmptySelection)
        #expect(group.options.allSatisfy { $0.mediaType == .audio && $0.isPlayable })
        #expect(Set(group.options.map(\.id)).count == 3)
        let other = try await makeAsset().0.loadMediaSelectionGroup(for: .audible)
        #expect(other?.options.map(\.id) == group.options.map(\.id))
        #expect(group.option(withID: group.options[1].id) == group.options[1])
        #expect(transport.urls == [Self.url])
    }

    @Test("I02: legible options can be deselected and include closed captions inside the video")
    func legible() async throws {
        let (asset, _) = makeAsset()
        let group = try #require(try await asset.loadMediaSelectionGroup(for: .legible))
        #expect(group.options.map(\.displayName) == ["English", "Forced", "CC"])
        #expect(group.allowsEmptySelection)
        #expect(group.defaultOption == nil)
        #expect(group.options.map(\.isPlayable) == [true, true, true])
        #expect(group.options[1].hasMediaCharacteristic(.containsOnlyForcedSubtitles))
        let audible = try #require(try await asset.loadMediaSelectionGroup(for: .audible))
        #expect(audible.options[0].associatedMediaSelectionOption(in: group)?.displayName == "Forced")
        #expect(audible.options[1].associatedMediaSelectionOption(in: group) == nil)
    }

    @Test("I01: only characteristics with options have groups")
    func available() async throws {
        let (asset, _) = makeAsset()
        #expect(try await asset.load(.availableMediaCharacteristicsWithMediaSelectionOptions) == [.audible, .legible])
        #expect(try await asset.loadMediaSelectionGroup(for: .visual) == nil)
        #expect(try await asset.loadMediaSelectionGroup(for: .easyToRead) == nil)
    }

    @Test("I02: options are filtered by language and characteristics")
    func filters() async throws {
        let (asset, _) = makeAsset()
        let options = try #require(try await asset.loadMediaSelectionGroup(for: .audible)).options
        func names(_ languages: [String]) -> [String] {
            MediaSelectionGroup.mediaSelectionOptions(
                from: options, filteredAndSortedAccordingToPreferredLanguages: languages
            ).map(\.displayName)
        }
        #expect(names(["de", "en-GB"]) == ["Deutsch", "English", "Described"])
        #expect(names(["fr"]) == [])
        #expect(names(["deu"]) == ["Deutsch"])
        let described = MediaSelectionGroup.mediaSelectionOptions(
            from: options, withMediaCharacteristics: [.describesVideoForAccessibility])
        #expect(described.map(\.displayName) == ["Described"])
        let others = MediaSelectionGroup.mediaSelectionOptions(
            from: options, withoutMediaCharacteristics: [.describesVideoForAccessibility])
        #expect(others.map(\.displayName) == ["English", "Deutsch"])
    }

    @Test("a variant knows the channels of each option")
    func channels() async throws {
        let (asset, _) = makeAsset()
        let variants = try await asset.load(.variants)
        let options = try #require(try await asset.loadMediaSelectionGroup(for: .audible)).options
        #expect(variants.map { $0.audioAttributes?.rendition(for: options[0])?.channelCount } == [2, 6])
        #expect(variants.map { $0.audioAttributes?.rendition(for: options[1])?.channelCount } == [nil, nil])
    }
}
