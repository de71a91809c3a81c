import HLSGetKit
import HLSKitCore
import TestSupport
import Testing

@testable import HLSGetMonitor

@Suite("Stream lists")
struct MonitorListTests {
    private static func read(_ text: String) throws -> MonitorList {
        try MonitorList(parsing: text, file: "list.txt", in: "/home/me")
    }

    @Test("a line is a URL, or a name and a URL, followed by options")
    func lines() throws {
        let list = try Self.read(
            """
            # the news
            https://a.example/news/master.m3u8?token=s3cret&x=1

            BBC One = https://b.example/one.m3u8
            radio=https://b.example/r.m3u8   decode=yes ignore=black,frozen for=30s
              film = films/a.m3u8 quality='height<=720 codec=avc' decode=no\r
            spaced = "/srv/a b.m3u8"
            """)
        #expect(
            list.entries.map(\.name) == ["a.example/news/master.m3u8", "BBC One", "radio", "film", "spaced"])
        #expect(
            list.entries.map(\.url) == [
                "https://a.example/news/master.m3u8?token=s3cret&x=1", "https://b.example/one.m3u8",
                "https://b.example/r.m3u8", "file:///home/me/films/a.m3u8", "file:///srv/a%20b.m3u8",
            ])
        #expect(list.entries.map(\.decodes) == [nil, nil, true, false, nil])
        #expect(list.entries[2].ignored == [.black, .frozen])
        #expect(list.entries[2].holdTime == .seconds(30))
        #expect(list.entries[3].quality != nil && list.entries[2].quality == nil)
    }

    @Test(
        "mistakes are reported with their line",
        arguments: [
            ("https://a/x.m3u8\nhttps://a/x.m3u8", "list.txt:2: the name \"a/x.m3u8\" is taken (line 1)"),
            ("a = https://a/x.m3u8\n\n#\na = https://a/y.m3u8", "list.txt:4: the name \"a\" is taken (line 1)"),
            ("name =", "list.txt:1: the URL is missing"), (" = https://a/x", "list.txt:1: the name is empty"),
            ("https://", "list.txt:1: https:// has no host"),
            ("https://a/x decod=yes", "list.txt:1: there is no option \"decod\""),
            ("https://a/x decode=maybe", "list.txt:1: decode is yes or no"),
            ("https://a/x decode", "list.txt:1: \"decode\" is no option"),
            ("https://a/x ignore=failed", "list.txt:1: ignore takes stale, missing"),
            ("https://a/x for=soon", "list.txt:1: not a time"),
            ("https://a/x quality='height<=720", "list.txt:1: a quotation mark is not closed"),
            ("https://a/x quality=zzz", "list.txt:1: "),
            (String(repeating: "n", count: 201) + " = https://a/x", "list.txt:1: a name of more than 200"),
        ])
    func mistakes(text: String, message: String) {
        do {
            let list = try Self.read(text)
            Issue.record("\(list)")
        } catch {
            #expect(
                "\(error)".contains(message) || (error as? ArgumentValueError)?.description.hasPrefix(message) == true,
                "\(error)")
        }
    }

    @Test("a channel that cannot be watched is skipped, the others are not")
    func skippedChannels() throws {
        let channels = (0..<8).map { "#EXTINF:-1,C\($0)\n\($0 == 1 ? "https" : "rtmp")://a.example/\($0)\n" }
        let list = try Self.read("#EXTM3U\n" + channels.joined())
        #expect(list.entries.map(\.name) == ["C1"])
        #expect(list.warnings.count == 6)
        #expect(list.warnings.first?.hasPrefix("C0 is skipped: rtmp: is not supported") == true)
        #expect(list.warnings.last == "2 more channels skipped")
        #expect(try Self.read("https://a.example/x").warnings.isEmpty)
    }

    @Test(
        "a channel list is recognized by its content, whatever its name and encoding",
        arguments: ["tv.m3u8", "tv.m3u", "tv"], [false, true])
    func channelListFiles(_ name: String, _ isLatin1: Bool) throws {
        let folder = try ScratchFolder()
        let text = "#EXTM3U\n#EXTINF:-1,Télé\nhttps://a.example/1\n#EXTINF:-1,B\nhttps://a.example/2\n"
        let bytes = isLatin1 ? text.unicodeScalars.map { UInt8($0.value) } : [0xEF, 0xBB, 0xBF] + Array(text.utf8)
        let path = try folder.write(bytes, to: name)
        #expect(try MonitorSource([path], shard: nil).read().entries.map(\.name) == ["Télé", "B"])
        let film = try folder.write(Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n1.ts\n".utf8), to: "f.m3u8")
        #expect(try MonitorSource([film], shard: nil).read().entries.map(\.url) == ["file://\(film)"])
    }

    @Test("shards contain all streams, each once, and have about equal sizes")
    func shards() throws {
        let names = (0..<3000).map { "channel \($0)" }
        let shards = try (0..<7).map { try MonitorShard(parsing: "\($0)/7") }
        for name in names { #expect(shards.count { $0.holds(name) } == 1) }
        for shard in shards { #expect((330...530).contains(names.count(where: shard.holds))) }
        for text in ["", "1", "3/3", "-1/3", "1/0", "1/3/5", "a/b", "1/10001", "٣/7"] {
            #expect(throws: ArgumentValueError.self) { try MonitorShard(parsing: text) }
        }
    }

    @Test("the hash of a name is the same on every machine and in every version")
    func hash() {
        #expect(StableHash.value(of: "") == 0xecba_3df2_c338_3c52)
        #expect(StableHash.value(of: "news") == 0x2f16_ee5f_8eec_43d0)
    }
}
