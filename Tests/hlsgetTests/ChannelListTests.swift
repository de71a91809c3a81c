import HLSGetKit
import HLSKitCore
import HLSKitLoading
import Testing

@Suite("Channel lists")
struct ChannelListTests {
    private static let text = """
        \u{FEFF}#EXTM3U url-tvg="http://epg.example/guide.xml"
        #EXTINF:-1 tvg-id="one" group-title="News, world",News One HD
        http://a.example/one.m3u8
        #EXTINF:-1 tvg-id="two",News Two
        #EXTVLCOPT:http-user-agent=Box/1.0
        #EXTVLCOPT:http-referrer=https://a.example/
        http://a.example/two.m3u8

        #EXTINF:-1 tvg-name="Third",
        http://a.example/three.m3u8|User-Agent=X%20Y&Referer=https://b.example/
        """

    @Test("names, groups and request fields are read")
    func reading() throws {
        let list = try #require(ChannelList(parsing: Self.text))
        #expect(list.channels.map(\.name) == ["News One HD", "News Two", "Third"])
        #expect(list.channels.map(\.group) == ["News, world", nil, nil])
        #expect(
            list.channels.map { FieldsInURL($0.url) } == [
                FieldsInURL("http://a.example/one.m3u8"),
                FieldsInURL("http://a.example/two.m3u8|User-Agent=Box/1.0&Referer=https://a.example/"),
                FieldsInURL("http://a.example/three.m3u8|User-Agent=X Y&Referer=https://b.example/"),
            ])
        #expect(list.text.split(separator: "\n").map(String.init).first == "1  News One HD  (News, world)")
    }

    @Test(
        "other files are not channel lists",
        arguments: [
            "", "#EXTM3U\n", "<html>", "#EXTM3U\n#EXTINF:-1,x\n",
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:0,\na.ts\n", "#EXTM3U\n#EXTINF:10,\na.ts\n",
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n", "#EXTM3U\n#EXTINF:123,Artist - Song\nsong.mp3\n",
        ])
    func others(_ text: String) { #expect(ChannelList(parsing: text) == nil) }

    @Test(
        "a channel is selected by number, name, or a unique part of its name",
        arguments: [
            ("2", "News Two"), ("#3", "Third"), ("third", "Third"), ("one", "News One HD"), ("NEWS TWO", "News Two"),
        ])
    func choice(_ preference: String, _ name: String) throws {
        let list = try #require(ChannelList(parsing: Self.text))
        #expect(try list.channel(preference).name == name)
    }

    @Test(
        "an unmatched channel is refused with the reason",
        arguments: [
            ("4", "there is no channel 4; there are 3"), ("0", "there is no channel 0; there are 3"),
            ("news", "2 channels are called \"news\": \"News One HD\", \"News Two\""),
            ("sports", "no channel is called \"sports\""),
        ])
    func noChoice(_ preference: String, _ reason: String) throws {
        let list = try #require(ChannelList(parsing: Self.text))
        #expect { try list.channel(preference) } throws: { "\($0)" == reason }
    }

    @Test(
        "header fields of a list are sent unchanged",
        arguments: [
            (["#EXTVLCOPT:http-referrer=http://r.example/p?a=1&b=2"], "", [("Referer", "http://r.example/p?a=1&b=2")]),
            (["#EXTVLCOPT:http-user-agent=A/1.0 (50%25 A&B)"], "", [("User-Agent", "A/1.0 (50%25 A&B)")]),
            (
                ["#KODIPROP:inputstream.adaptive.stream_headers=User-Agent=A%26B&X-Key=1"], "",
                [("User-Agent", "A&B"), ("X-Key", "1")]
            ),
            (["#EXTHTTP:{\"X-Key\":\"1&2\",\"Cookie\":\"a=1\",\"n\":1}"], "", [("Cookie", "a=1"), ("X-Key", "1&2")]),
            (["#EXTHTTP:no JSON"], "", []),
            (
                ["#EXTVLCOPT:http-user-agent=X", "#EXTVLCOPT:http-referrer=http://r.example/"], "|User-Agent=Y",
                [("User-Agent", "Y"), ("Referer", "http://r.example/")]
            ),
        ] as [([String], String, [(String, String)])])
    func exactFields(_ lines: [String], _ ofURL: String, _ expected: [(String, String)]) throws {
        let text = "#EXTM3U\n#EXTINF:-1,One\n\(lines.joined(separator: "\n"))\nhttp://a.example/x.m3u8\(ofURL)\n"
        let channel = try #require(ChannelList(parsing: text)?.channels.first)
        let parts = FieldsInURL(channel.url)
        #expect(parts.url == "http://a.example/x.m3u8")
        #expect(parts.fields == expected.map { TransportField(name: $0.0, value: $0.1) })
    }

    @Test("fields after a URL are read; typed fields override them")
    func fields() {
        let parts = FieldsInURL("https://a.example/x.m3u8?q=1|User-Agent=A%2FB&X-Key=1")
        #expect(parts.url == "https://a.example/x.m3u8?q=1")
        #expect(
            parts.fields == [
                TransportField(name: "User-Agent", value: "A/B"), TransportField(name: "X-Key", value: "1"),
            ])
        #expect(FieldsInURL("/a|b=c").url == "/a|b=c")
        let typed = [TransportField(name: "user-agent", value: "T")]
        #expect(typed.filled(from: parts.fields) == typed + [TransportField(name: "X-Key", value: "1")])
        // A line break would add a second field.
        #expect(FieldsInURL("http://a.example/|X=1%0D%0AY: 2").fields.isEmpty)
    }
}
