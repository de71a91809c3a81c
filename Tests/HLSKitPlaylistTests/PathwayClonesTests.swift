import HLSKitPlaylist
import Testing

@Suite("Pathway clones")
struct PathwayClonesTests {
    private static let base = "https://origin.example/movie/all.m3u8"

    private static let text = """
        #EXTM3U
        #EXT-X-CONTENT-STEERING:SERVER-URI="/steering",PATHWAY-ID="A"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",URI="https://a.example/en.m3u8?x=1",STABLE-RENDITION-ID="en"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="English",URI="https://b.example/en.m3u8",STABLE-RENDITION-ID="en"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",URI="subs.m3u8"
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="cc",NAME="CC",INSTREAM-ID="CC1"
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="a",SUBTITLES="s",CLOSED-CAPTIONS="cc",PATHWAY-ID="A",STABLE-VARIANT-ID="low"
        https://a.example/low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,AUDIO="a",SUBTITLES="s",CLOSED-CAPTIONS="cc",PATHWAY-ID="A",STABLE-VARIANT-ID="high"
        https://a.example:8443/high.m3u8?token=abc&b=1#top
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="b",PATHWAY-ID="B"
        https://b.example/low.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,URI="frames.m3u8",PATHWAY-ID="A"

        """

    private static func playlist(_ text: String = text) throws -> MultivariantPlaylist {
        try MultivariantPlaylist(parsing: text, url: base)
    }

    private static func clone(
        _ id: String = "C", of base: String = "A", _ change: (inout PathwayClone) -> Void = { _ in }
    ) -> PathwayClone {
        var clone = PathwayClone(id: id, baseID: base)
        change(&clone)
        return clone
    }

    // MARK: URIs

    struct Rewriting: CustomTestStringConvertible {
        var testDescription: String
        var clone: PathwayClone
        /// The expected URIs of A's two variants and of its audio.
        var uris: [String]
    }

    static let plain = [
        "https://a.example/low.m3u8", "https://a.example:8443/high.m3u8?token=abc&b=1#top",
        "https://a.example/en.m3u8?x=1",
    ]

    private static func each(_ change: (String) -> String) -> [String] { plain.map(change) }

    static let rewritings: [Rewriting] = [
        Rewriting(testDescription: "nothing", clone: clone(), uris: plain),
        Rewriting(
            testDescription: "a host, which leaves the port", clone: clone { $0.host = "c.example" },
            uris: each { $0.replacing("a.example", with: "c.example") }),
        Rewriting(
            testDescription: "a host with a port", clone: clone { $0.host = "c.example:99" },
            uris: [
                "https://c.example:99/low.m3u8", "https://c.example:99/high.m3u8?token=abc&b=1#top",
                "https://c.example:99/en.m3u8?x=1",
            ]),
        Rewriting(
            testDescription: "an address", clone: clone { $0.host = "[::1]" },
            uris: each { $0.replacing("a.example", with: "[::1]") }),
        Rewriting(
            testDescription: "a parameter more", clone: clone { $0.parameters = ["c": "2"] },
            uris: [
                plain[0] + "?c=2", "https://a.example:8443/high.m3u8?token=abc&b=1&c=2#top", plain[2] + "&c=2",
            ]),
        Rewriting(
            testDescription: "a parameter in the place of another, and all in the order of names",
            clone: clone { $0.parameters = ["token": "xyz", "d": "4", "c": "2"] },
            uris: [
                plain[0] + "?c=2&d=4&token=xyz", "https://a.example:8443/high.m3u8?b=1&c=2&d=4&token=xyz#top",
                plain[2] + "&c=2&d=4&token=xyz",
            ]),
        Rewriting(
            testDescription: "a parameter that only begins like another", clone: clone { $0.parameters = ["tok": "1"] },
            uris: [
                plain[0] + "?tok=1", "https://a.example:8443/high.m3u8?token=abc&b=1&tok=1#top", plain[2] + "&tok=1",
            ]),
        Rewriting(
            testDescription: "parameters that have to be coded", clone: clone { $0.parameters = ["ü&": "a=b c"] },
            uris: [
                plain[0] + "?%C3%BC%26=a%3Db%20c",
                "https://a.example:8443/high.m3u8?token=abc&b=1&%C3%BC%26=a%3Db%20c#top",
                plain[2] + "&%C3%BC%26=a%3Db%20c",
            ]),
        Rewriting(
            testDescription: "a host and a parameter",
            clone: clone {
                $0.host = "c.example"
                $0.parameters = ["x": "2"]
            },
            uris: [
                "https://c.example/low.m3u8?x=2", "https://c.example:8443/high.m3u8?token=abc&b=1&x=2#top",
                "https://c.example/en.m3u8?x=2",
            ]),
        Rewriting(
            testDescription: "URIs of its own, for which the host stays",
            clone: clone {
                $0.host = "c.example"
                $0.variantURIs = ["high": "https://v.example/h.m3u8"]
                $0.renditionURIs = ["en": "https://r.example/e.m3u8"]
            },
            uris: ["https://c.example/low.m3u8", "https://v.example/h.m3u8", "https://r.example/e.m3u8"]),
        Rewriting(
            testDescription: "URIs of its own, and parameters",
            clone: clone {
                $0.parameters = ["t": "1"]
                $0.variantURIs = ["low": "l.m3u8"]
                $0.renditionURIs = ["low": "no", "en": "/e.m3u8?t=0"]
            },
            uris: [
                "https://origin.example/movie/l.m3u8?t=1", "https://a.example:8443/high.m3u8?token=abc&b=1&t=1#top",
                "https://origin.example/e.m3u8?t=1",
            ]),
        Rewriting(
            testDescription: "URIs of variants that it does not have",
            clone: clone { $0.variantURIs = ["other": "https://v.example/h.m3u8"] }, uris: plain),
    ]

    @Test("P04: a clone rewrites its base's URIs", arguments: rewritings)
    func uris(_ row: Rewriting) throws {
        var clones = PathwayClones()
        #expect(clones.take([row.clone], except: ["A", "B"]) == true)
        let playlist = clones.playlist(of: try Self.playlist(), base: Self.base)
        let variants = playlist.variants.filter { $0.pathwayID == "C" }
        #expect(variants.map(\.bandwidth) == [1_000_000, 2_000_000])
        #expect(variants.map(\.stableVariantID) == ["low", "high"])
        let audio = try #require(playlist.renditions(.audio, groupID: variants[0].audio ?? "").first)
        #expect(variants.map(\.uri) + [audio.uri] == row.uris)
    }

    // MARK: Groups

    @Test("P04: a clone has renamed copies of its base's groups, and muxed media stays shared")
    func groups() throws {
        var clones = PathwayClones()
        _ = clones.take([Self.clone { $0.host = "c.example" }], except: ["A", "B"])
        let written = try Self.playlist()
        let playlist = clones.playlist(of: written, base: Self.base)
        #expect(Array(playlist.variants.prefix(3)) == written.variants)
        #expect(Array(playlist.renditions.prefix(4)) == written.renditions)
        #expect(playlist.variants.count == 5)
        #expect(playlist.renditions.count == 6)
        let variant = playlist.variants[4]
        #expect(playlist.renditions(.audio, groupID: variant.audio ?? "").map(\.stableRenditionID) == ["en"])
        #expect(
            playlist.renditions(.subtitles, groupID: variant.subtitles ?? "").map(\.uri)
                == ["https://c.example/movie/subs.m3u8"])
        #expect(variant.closedCaptions == .group("cc"))
        #expect(playlist.iFrameVariants.map(\.uri) == ["frames.m3u8", "https://c.example/movie/frames.m3u8"])
    }

    @Test("P04: a playlist without named pathways has one, named \".\"")
    func unnamed() throws {
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"
        var clones = PathwayClones()
        _ = clones.take([Self.clone(of: ".") { $0.host = "c.example" }], except: ["."])
        let playlist = clones.playlist(of: try Self.playlist(text), base: Self.base)
        #expect(playlist.variants.map(\.uri) == ["v.m3u8", "https://c.example/movie/v.m3u8"])
    }

    // MARK: Series of manifests

    struct Series: CustomTestStringConvertible {
        var testDescription: String
        var manifests: [[PathwayClone]]
        /// The pathways of the variants added to the playlist, followed by the pathways that are no longer offered.
        var added: [String]
        var vanished: Set<String> = []
        var isNew = true
        var nameOfC = "C"
    }

    static let series: [Series] = [
        Series(testDescription: "none", manifests: [[]], added: [], isNew: false),
        Series(testDescription: "one", manifests: [[clone()]], added: ["C", "C"]),
        Series(testDescription: "the same again", manifests: [[clone()], [clone()]], added: ["C", "C"], isNew: false),
        Series(testDescription: "of another base", manifests: [[clone(of: "B")]], added: ["C"]),
        Series(
            testDescription: "two", manifests: [[clone(), clone("D", of: "B")]], added: ["C", "C", "D"]),
        Series(
            testDescription: "a clone of a clone", manifests: [[clone(), clone("D", of: "C")]],
            added: ["C", "C", "D", "D"]),
        Series(
            testDescription: "a chain of four",
            manifests: [[clone(of: "B"), clone("D", of: "C"), clone("E", of: "D"), clone("F", of: "E")]],
            added: ["C", "D", "E", "F"]),
        Series(
            testDescription: "a clone of one that comes behind it", manifests: [[clone("D", of: "C"), clone()]],
            added: ["C", "C"]),
        Series(
            testDescription: "each the base of the other",
            manifests: [[clone("D", of: "C"), clone("C", of: "D")]], added: [], isNew: false),
        Series(
            testDescription: "of a base that nobody knows", manifests: [[clone(of: "Z")]], added: [], isNew: false),
        Series(
            testDescription: "in the place of one of the playlist", manifests: [[clone("B", of: "A")]], added: [],
            isNew: false),
        Series(
            testDescription: "one that vanished", manifests: [[clone()], []], added: ["C", "C"], vanished: ["C"],
            isNew: false),
        Series(
            testDescription: "one that came back", manifests: [[clone()], [], [clone()]], added: ["C", "C"],
            isNew: false),
        Series(
            testDescription: "one that came back as another",
            manifests: [[clone(of: "B")], [], [clone(of: "B") { $0.host = "c.example" }]], added: ["C", "C'"],
            vanished: ["C"], nameOfC: "C'"),
        Series(
            testDescription: "one that became another and then itself again",
            manifests: [[clone(of: "B")], [clone(of: "B") { $0.host = "c.example" }], [clone(of: "B")]],
            added: ["C", "C'"], vanished: ["C'"], isNew: false),
        Series(
            testDescription: "a base that vanished, and with it what was made of it",
            manifests: [[clone(), clone("D", of: "C")], [clone("D", of: "C")]], added: ["C", "C", "D", "D"],
            vanished: ["C", "D"], isNew: false),
        Series(
            testDescription: "a base that became another",
            manifests: [
                [clone(of: "B"), clone("D", of: "C")],
                [clone(of: "B") { $0.host = "c.example" }, clone("D", of: "C")],
            ], added: ["C", "D", "C'", "D'"], vanished: ["C", "D"], nameOfC: "C'"),
    ]

    @Test("P04: clones come and go without moving variants", arguments: series)
    func comeAndGo(_ row: Series) throws {
        let written = try Self.playlist()
        var clones = PathwayClones()
        var isNew = false
        var before: [VariantStream] = written.variants
        for manifest in row.manifests {
            isNew = clones.take(manifest, except: ["A", "B"])
            let variants = clones.playlist(of: written, base: Self.base).variants
            #expect(Array(variants.prefix(before.count)) == before)
            before = variants
        }
        #expect(isNew == row.isNew)
        #expect(before.dropFirst(3).map(\.pathwayID) == row.added)
        #expect(clones.vanished == row.vanished)
        #expect(clones.name(of: "C") == row.nameOfC)
        #expect(clones.id(of: row.nameOfC) == "C")
    }

    @Test("P04: a clone of a clone is rewritten twice")
    func chain() throws {
        var clones = PathwayClones()
        let first = Self.clone(of: "B") {
            $0.host = "c.example"
            $0.parameters = ["a": "1", "b": "1"]
        }
        let second = Self.clone("D", of: "C") {
            $0.host = "d.example"
            $0.parameters = ["b": "2"]
        }
        _ = clones.take([first, second], except: ["A", "B"])
        let uris = clones.playlist(of: try Self.playlist(), base: Self.base).variants.dropFirst(3).map(\.uri)
        #expect(uris == ["https://c.example/low.m3u8?a=1&b=1", "https://d.example/low.m3u8?a=1&b=2"])
    }

    @Test("P04: the number of clones is bounded")
    func bounded() throws {
        var clones = PathwayClones()
        for number in 0..<1000 { _ = clones.take([Self.clone("C\(number)")], except: ["A", "B"]) }
        let written = try Self.playlist()
        let playlist = clones.playlist(of: written, base: Self.base)
        #expect(playlist.variants.count == 3 + 2 * PathwayClones.maximumCount)
        var doubling = PathwayClones()
        let chain = (0..<64).map { Self.clone("D\($0)", of: $0 == 0 ? "A" : "D\($0 - 1)") }
        _ = doubling.take(chain, except: ["A", "B"])
        #expect(doubling.playlist(of: written, base: Self.base).variants.count == 3 + 2 * 64)
        var long = PathwayClones()
        _ = long.take(
            [Self.clone { $0.parameters = ["a": String(repeating: " ", count: 200_000)] }, Self.clone("D", of: "B")],
            except: ["A", "B"])
        var wide = written
        wide.variants += Array(repeating: written.variants[0], count: 100)
        #expect(long.playlist(of: wide, base: Self.base).variants.dropFirst(103).map(\.pathwayID) == ["D"])
        var large = written
        large.variants = Array(repeating: written.variants[0], count: 3000)
        #expect(clones.playlist(of: large, base: Self.base).variants.count == 3000)
    }
}
