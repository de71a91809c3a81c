import Testing

@testable import HLSKitLoading

/// Checks keys, types, rounding and formats against the tables of CTA-5004 and CTA-5004-B.
@Suite("Client data in requests and reports")
struct ClientDataReportTests {
    private static let url = "https://cdn.example/a/b/1.m4s?t=1"

    struct Row: CustomTestStringConvertible, Sendable {
        var key: String
        /// The expected member in version 1 and in version 2, or `nil` if the version has none.
        var one: String?
        var two: String?
        var news = ReportSequence.News()
        var setUp: @Sendable (inout ClientDataFacts, inout ClientData) -> Void

        init(
            _ key: String, _ one: String?, _ two: String?, _ news: ReportSequence.News = .init(),
            _ setUp: @escaping @Sendable (inout ClientDataFacts, inout ClientData) -> Void
        ) {
            self.key = key
            self.one = one
            self.two = two
            self.news = news
            self.setUp = setUp
        }

        var testDescription: String { "\(key) \(one ?? "-") \(two ?? "-")" }
    }

    private static func next(_ url: String, _ range: Range<UInt64>? = nil) -> ClientDataFacts.NextObject {
        ClientDataFacts.NextObject(url: url, byteRange: range)
    }

    private static let long = String(repeating: "x", count: 65)

    static let rows: [Row] = [
        Row("br", "br=2501", "br=(2501;av)") { facts, _ in
            facts.objectType = .muxed
            facts.bitRates.encoded = 2_500_700
        },
        Row("br", "br=2500", nil) { facts, _ in
            facts.objectType = .video
            facts.bitRates = .init(isAggregate: true, encoded: 2_500_000)
        },
        Row("ab", nil, "ab=(2500;v)") { facts, _ in
            facts.objectType = .video
            facts.bitRates = .init(isAggregate: true, encoded: 2_500_000)
        },
        Row("ab", nil, nil) { facts, _ in facts.bitRates.encoded = 1_000_000 },
        Row("br", nil, nil) { facts, _ in facts.bitRates.encoded = .nan },
        Row("br", nil, nil) { facts, _ in facts.bitRates.encoded = -1 },
        Row("tb", "tb=4000", "tb=(5000;av)") { facts, _ in
            facts.objectType = .muxed
            facts.bitRates = .init(encoded: 1, top: 5_000_000, topPlayable: 4_000_000)
        },
        Row("tab", nil, "tab=(5000;v)") { facts, _ in
            facts.objectType = .video
            facts.bitRates = .init(isAggregate: true, top: 5_000_000)
        },
        Row("tab", nil, nil) { facts, _ in facts.bitRates.top = 5_000_000 },
        Row("lb", nil, "lb=(400;av)") { facts, _ in
            facts.objectType = .muxed
            facts.bitRates.lowest = 400_000
        },
        Row("lab", nil, "lab=(400;v)") { facts, _ in
            facts.objectType = .video
            facts.bitRates = .init(isAggregate: true, lowest: 400_000)
        },
        Row("tpb", nil, nil) { facts, _ in
            facts.objectType = .muxed
            facts.bitRates.topPlayable = 4_000_000
        },
        Row("tpb", nil, "tpb=(4000;av)") { facts, settings in
            facts.objectType = .muxed
            facts.bitRates.topPlayable = 4_000_000
            settings.keys = ["tpb"]
        },
        Row("tpb", nil, nil) { facts, settings in
            facts.objectType = .text
            facts.bitRates.topPlayable = 4_000_000
            settings.keys = ["tpb"]
        },
        Row("pb", nil, "pb=(1000)") { facts, _ in facts.playheadBitRate = 1_000_000 },
        Row("bl", "bl=21300", "bl=(21300;v)") { facts, _ in
            facts.objectType = .video
            facts.bufferLength = .milliseconds(21_349)
        },
        Row("bl", "bl=21400", "bl=(21400)") { facts, _ in facts.bufferLength = .milliseconds(21_350) },
        Row("bl", "bl=0", "bl=(0)") { facts, _ in facts.bufferLength = .milliseconds(49) },
        Row("bl", nil, nil) { facts, _ in facts.bufferLength = .seconds(-1) },
        Row("bl", nil, "bl=(3000;c)") { facts, _ in
            facts.objectType = .caption
            facts.bufferLength = .seconds(3)
        },
        Row("tbl", nil, "tbl=(30000;a)") { facts, _ in
            facts.objectType = .audio
            facts.targetBufferLength = .seconds(30)
        },
        Row("bs", "bs", "bs", .init(isStarved: true)) { _, _ in },
        Row("bs", nil, nil) { _, _ in },
        Row("bsa", nil, "bsa=(3)") { facts, _ in facts.starvationCount = 3 },
        Row("bsd", nil, "bsd=(1500 20)", .init(starvations: [.milliseconds(1500), .milliseconds(20)])) { _, _ in },
        Row("bsda", nil, "bsda=(1520)") { facts, _ in facts.starvations = [.milliseconds(1500), .milliseconds(20)] },
        Row("bg", nil, "bg") { facts, _ in facts.isBackgrounded = true },
        Row("bg", nil, nil) { facts, _ in facts.isBackgrounded = false },
        Row("cdn", nil, #"cdn="east""#) { facts, _ in facts.network = "east" },
        Row("cid", #"cid="a\"b\\c""#, #"cid="a\"b\\c""#) { _, settings in settings.contentID = #"a"b\c"# },
        Row("cid", "cid=\"\(String(repeating: "x", count: 64))\"", "cid=\"\(String(repeating: "x", count: 128))\"") {
            $1.contentID = String(repeating: "x", count: 200)
        },
        Row("cid", nil, nil) { _, settings in settings.contentID = "film é" },
        Row("cid", nil, nil) { _, settings in settings.contentID = "two\nlines" },
        Row("cs", nil, #"cs="sig""#) { _, settings in settings.contentSignature = "sig" },
        Row("d", "d=4004", "d=4004") { facts, _ in
            facts.objectType = .video
            facts.duration = .microseconds(4_004_400)
        },
        Row("d", nil, nil) { facts, _ in
            facts.objectType = .text
            facts.duration = .seconds(4)
        },
        Row("dfa", nil, "dfa=7") { facts, _ in
            facts.objectType = .video
            facts.droppedFrameCount = 7
        },
        Row("dfa", nil, nil) { facts, _ in
            facts.objectType = .audio
            facts.droppedFrameCount = 7
        },
        Row("dl", "dl=1200", "dl=1200") { facts, _ in facts.deadline = .milliseconds(1234) },
        Row("ec", nil, #"ec=("timedOut" "httpStatus")"#, .init(errors: ["timedOut", "httpStatus"])) { _, _ in },
        Row("ec", nil, nil) { _, _ in },
        Row("ltc", nil, "ltc=6123") { facts, _ in facts.liveLatency = .milliseconds(6123) },
        Row("msd", nil, "msd=420", .init(startDelay: .milliseconds(420))) { _, _ in },
        Row("mtp", "mtp=25400", "mtp=(25400)") { facts, _ in facts.throughput = 25_433_000 },
        Row("mtp", "mtp=0", "mtp=(0)") { facts, _ in facts.throughput = 49_999 },
        Row("nor", "nor=\"2.m4s%3Ft%3D1\"", "nor=(\"2.m4s?t=1\")") { facts, _ in
            facts.next = next("https://cdn.example/a/b/2.m4s?t=1")
        },
        Row("nor", "nor=\"..%2Fc%2F2.m4s\"", "nor=(\"../c/2.m4s\")") { facts, _ in
            facts.next = next("https://cdn.example/a/c/2.m4s")
        },
        Row("nor", "nor=\"all.mp4\"", "nor=(\"all.mp4\";r=\"100-299\")") { facts, _ in
            facts.next = next("https://cdn.example/a/b/all.mp4", 100..<300)
        },
        Row("nor", nil, nil) { facts, _ in facts.next = next("https://other.example/a/b/2.m4s") },
        Row("nrr", "nrr=\"100-299\"", nil) { facts, _ in
            facts.next = next("https://cdn.example/a/b/all.mp4", 100..<300)
        },
        Row("nr", nil, "nr") { facts, _ in facts.isNotRendered = true },
        Row("ot", "ot=av", "ot=av") { facts, _ in facts.objectType = .muxed },
        Row("ot", "ot=i", "ot=i") { facts, _ in facts.objectType = .initializationSection },
        Row("ot", "ot=m", "ot=m") { facts, _ in facts.objectType = .text },
        Row("ot", "ot=k", "ot=k") { facts, _ in facts.objectType = .key },
        Row("ot", "ot=c", "ot=c") { facts, _ in facts.objectType = .caption },
        Row("ot", "ot=tt", "ot=tt") { facts, _ in facts.objectType = .timedText },
        Row("ot", nil, nil) { _, _ in },
        Row("pr", nil, nil) { facts, _ in facts.rate = 1 },
        Row("pr", "pr=0", "pr=0") { facts, _ in facts.rate = 0 },
        Row("pr", "pr=1.08", "pr=1.08") { facts, _ in facts.rate = 1.08 },
        Row("pr", "pr=-2", "pr=-2") { facts, _ in facts.rate = -2 },
        Row("pr", nil, nil) { facts, _ in facts.rate = .infinity },
        Row("pt", nil, "pt=61005") { facts, _ in facts.playheadTime = .milliseconds(61_005) },
        Row("rtp", "rtp=12500", "rtp=12500") { facts, _ in facts.bitRates.encoded = 2_500_000 },
        Row("rtp", "rtp=5000", "rtp=5000") { facts, settings in
            facts.bitRates.encoded = 2_500_000
            settings.requestedThroughputFactor = 2
        },
        Row("sf", "sf=h", "sf=h") { _, _ in },
        Row("sid", #"sid="6e2fb550-c457-11e9-bb97-0800200c9a66""#, #"sid="6e2fb550-c457-11e9-bb97-0800200c9a66""#) {
            facts, _ in facts.sessionID = "6e2fb550-c457-11e9-bb97-0800200c9a66"
        },
        Row("sn", nil, "sn=12", .init(number: 12)) { _, _ in },
        Row("st", "st=v", "st=v") { facts, _ in facts.streamType = .onDemand },
        Row("st", "st=l", "st=l") { facts, _ in facts.streamType = .live },
        Row("st", "st=l", "st=ll") { facts, _ in facts.streamType = .lowLatency },
        Row("sta", nil, "sta=r") { facts, _ in facts.state = .rebuffering },
        Row("su", "su", "su") { facts, _ in facts.isUrgent = true },
        Row("v", nil, "v=2") { _, _ in },
        Row("com.example-a", #"com.example-a="x y""#, #"com.example-a="x y""#) { _, settings in
            settings.customKeys = ["com.example-a": .string("x y")]
        },
        Row("com.example-a", "com.example-a=tok", "com.example-a=tok") { _, settings in
            settings.customKeys = ["com.example-a": .token("tok")]
        },
        Row("com.example-a", "com.example-a=-4", #"com.example-a="-4""#) { _, settings in
            settings.customKeys = ["com.example-a": .integer(-4)]
        },
        Row("com.example-a", nil, nil) { _, settings in settings.customKeys = ["com.example-a": .integer(.max)] },
        Row("com.example-a", "com.example-a=0.125", #"com.example-a="0.125""#) { _, settings in
            settings.customKeys = ["com.example-a": .decimal(0.125)]
        },
        Row("com.example-a", "com.example-a", "com.example-a=true") { _, settings in
            settings.customKeys = ["com.example-a": .flag]
        },
        Row("com.example-a", "com.example-a=\"\(long)\"", nil) { $1.customKeys = ["com.example-a": .string(long)] },
        Row("com.example-a", "com.example-a=\(long)", nil) { $1.customKeys = ["com.example-a": .token(long)] },
        Row("com.example-a", nil, nil) { $1.customKeys = ["com.example-a": .token("no token")] },
        Row("noprefix", nil, nil) { _, settings in settings.customKeys = ["noprefix": .flag] },
        Row("Com.example-a", nil, nil) { _, settings in settings.customKeys = ["Com.example-a": .flag] },
    ]

    /// Returns the members of a line by their keys. No value in the table contains a comma.
    private static func members(_ line: String) -> [String: String] {
        Dictionary(
            line.split(separator: ",").map { (String($0.prefix { $0 != "=" }), String($0)) }, uniquingKeysWith: { $1 })
    }

    @Test("each key has its type and rounding, in both versions", arguments: rows)
    func key(row: Row) {
        for version in ClientData.Version.allCases {
            var (facts, settings) = (ClientDataFacts(), ClientData())
            settings.version = version
            row.setUp(&facts, &settings)
            let line = ClientDataReport(request: Self.url, facts, row.news, settings).line
            #expect(Self.members(line)[row.key] == (version == .one ? row.one : row.two), "\(line)")
        }
    }

    @Test("the table has every request key of both versions")
    func allKeys() {
        let known = Set(Self.rows.map(\.key))
        for key in ClientDataKey.allCases where !ClientDataKey.ofEvents.contains(key) {
            #expect(known.contains(key.rawValue), "\(key)")
        }
    }

    private static var full: (ClientDataFacts, ClientData) {
        var (facts, settings) = (ClientDataFacts(), ClientData())
        facts.objectType = .muxed
        facts.bitRates = .init(encoded: 3_200_000, top: 6_000_000, lowest: 400_000)
        facts.duration = .milliseconds(4004)
        facts.bufferLength = .milliseconds(21_300)
        facts.deadline = .milliseconds(18_500)
        facts.throughput = 48_100_000
        facts.isUrgent = true
        facts.rate = 1.08
        facts.sessionID = "6e2fb550"
        facts.streamType = .onDemand
        facts.next = next("https://cdn.example/a/b/2.m4s")
        settings.contentID = "faec"
        settings.customKeys = ["com.example-z": .integer(1)]
        return (facts, settings)
    }

    @Test(
        "each of the four fields has its keys in order; some moved in version 2",
        arguments: [
            (
                .one,
                [
                    "CMCD-Object": "br=3200,d=4004,ot=av,tb=6000",
                    "CMCD-Request": "bl=21300,com.example-z=1,dl=18500,mtp=48100,nor=\"2.m4s\",su",
                    "CMCD-Session": "cid=\"faec\",pr=1.08,sf=h,sid=\"6e2fb550\",st=v", "CMCD-Status": "bs,rtp=16000",
                ]
            ),
            (
                .two,
                [
                    "CMCD-Object": "br=(3200;av),d=4004,lb=(400;av),ot=av,tb=(6000;av)",
                    "CMCD-Request":
                        #"bl=(21300;av),com.example-z="1",dl=18500,mtp=(48100),nor=("2.m4s"),sn=3,sta=p,su"#,
                    "CMCD-Session": "cid=\"faec\",sf=h,sid=\"6e2fb550\",st=v,v=2",
                    "CMCD-Status": "bs,pr=1.08,rtp=16000",
                ]
            ),
        ] as [(ClientData.Version, [String: String])])
    func fields(version: ClientData.Version, texts: [String: String]) {
        var (facts, settings) = Self.full
        settings.version = version
        facts.state = .playing
        let report = ClientDataReport(request: Self.url, facts, .init(number: 3, isStarved: true), settings)
        #expect(report.fields.map(\.name) == ["CMCD-Object", "CMCD-Request", "CMCD-Session", "CMCD-Status"])
        for field in report.fields { #expect(field.value == texts[field.name]) }
    }

    @Test("only the selected keys are sent, and the version if it is not 1")
    func chosen() {
        var (facts, settings) = Self.full
        settings.keys = ["bl", "sid", "com.example-z"]
        #expect(
            ClientDataReport(request: Self.url, facts, .init(), settings).line
                == "bl=21300,com.example-z=1,sid=\"6e2fb550\"")
        settings.version = .two
        settings.keys = ["bl"]
        facts.objectType = nil
        #expect(ClientDataReport(request: Self.url, facts, .init(), settings).line == "bl=(21300),v=2")
    }

    @Test("custom keys go into their selected field", arguments: ClientData.HeaderField.allCases)
    func customField(field: ClientData.HeaderField) {
        var settings = ClientData()
        settings.keys = ["com.example-a"]
        settings.customKeys = ["com.example-a": .token("x")]
        settings.customKeyFields = ["com.example-a": field]
        let report = ClientDataReport(request: Self.url, ClientDataFacts(), .init(), settings)
        #expect(report.fields == [TransportField(name: field.rawValue, value: "com.example-a=x")])
    }

    // MARK: Events

    private static func event(
        _ kind: ClientData.Event, _ change: (inout ClientDataEvent) -> Void = { _ in }
    ) -> ClientDataEvent {
        var event = ClientDataEvent(kind, date: 1_700_000_000_123)
        change(&event)
        return event
    }

    private static func line(_ event: ClientDataEvent, keys: Set<String>? = []) -> String {
        var (facts, settings) = full
        facts.state = .rebuffering
        facts.isBackgrounded = true
        settings.version = .two
        settings.customKeys = [:]
        return ClientDataReport(event, facts, .init(), settings, keys: keys).line
    }

    @Test(
        "each event has its required keys, whatever keys were selected",
        arguments: [
            (.playState, "e=ps,sta=r"), (.bitrateChange, "br=(3200;av),e=bc"), (.playbackRate, "e=pr,pr=1.08"),
            (.contentID, "cid=\"faec\",e=c"), (.timeInterval, "e=t"), (.mute, "e=m"), (.unmute, "e=um"),
            (.backgrounded, "bg,e=b"), (.playerExpand, "e=pe"), (.playerCollapse, "e=pc"), (.adBreakStart, "e=abs"),
            (.adBreakEnd, "e=abe"), (.adStart, "e=as"), (.adEnd, "e=ae"), (.skip, "e=sk"),
        ] as [(ClientData.Event, String)])
    func required(kind: ClientData.Event, text: String) {
        #expect(Self.line(Self.event(kind)) == text + ",ts=1700000000123,v=2")
    }

    struct EventRow: CustomTestStringConvertible, Sendable {
        var key: ClientDataKey
        var text: String
        var event: ClientDataEvent
        var testDescription: String { text }

        init(
            _ key: ClientDataKey, _ text: String, _ kind: ClientData.Event = .responseReceived,
            _ change: (inout ClientDataEvent) -> Void = { _ in }
        ) {
            self.key = key
            self.text = text
            event = ClientDataReportTests.event(kind) {
                if kind == .responseReceived { $0.response = ClientDataReportTests.response }
                change(&$0)
            }
        }
    }

    private static let response = ClientDataEvent.Response(
        url: "https://a.example/1.m4s", status: 200, firstByte: .milliseconds(31), firstBodyByte: .milliseconds(33),
        lastByte: .milliseconds(402), staticData: "ot=av", dynamicData: #""n";etp=96"#, tracing: "();syn")

    static let eventRows = [
        EventRow(.e, "e=t", .timeInterval), EventRow(.ts, "ts=1700000000123", .timeInterval),
        EventRow(.ec, #"ec=("timedOut")"#, .error) { $0.errorCode = "timedOut" },
        EventRow(.h, #"h="b.example""#, .hostname) { $0.host = "b.example" },
        EventRow(.cen, #"cen="buy""#, .custom) { $0.name = "buy" },
        EventRow(.cen, "cen=\"\(long.dropFirst())\"", .custom) { $0.name = long }, EventRow(.rc, "rc=200"),
        EventRow(.url, #"url="https://a.example/1.m4s""#), EventRow(.ttfb, "ttfb=31"), EventRow(.ttfbb, "ttfbb=33"),
        EventRow(.ttlb, "ttlb=402"),
        EventRow(.cmsds, #"cmsds="b3Q9YXY=""#), EventRow(.cmsdd, #"cmsdd="Im4iO2V0cD05Ng==""#),
        EventRow(.smrt, #"smrt="KCk7c3lu""#),
    ]

    @Test("each event key has its type and appears in its event only", arguments: eventRows)
    func ofEvents(row: EventRow) {
        #expect(Self.members(Self.line(row.event, keys: nil))[row.key.rawValue] == row.text)
        guard row.event.kind == .responseReceived || row.event.kind == .custom else { return }
        var other = row.event
        other.kind = .timeInterval
        #expect(Self.members(Self.line(other, keys: nil))[row.key.rawValue] == nil)
    }

    @Test("the table has every event key; the next object is sent in requests only")
    func allEventKeys() {
        #expect(Set(Self.eventRows.map(\.key)).isSuperset(of: ClientDataKey.ofEvents))
        #expect(!Self.line(EventRow(.rc, "").event, keys: nil).contains("nor="))
    }

    @Test("pending errors are sent with the next event, and a changed total is sent as a change")
    func except() {
        var (facts, settings) = Self.full
        settings.version = .two
        let news = ReportSequence.News(errors: ["a", "b"])
        for kind in [ClientData.Event.timeInterval, .error] {
            let event = Self.event(kind) { $0.errorCode = "b" }
            let line = ClientDataReport(event, facts, news, settings, keys: nil).line
            #expect(Self.members(line)["ec"] == #"ec=("a" "b")"#)
        }
        facts.bitRates.isAggregate = true
        let line = ClientDataReport(Self.event(.bitrateChange), facts, .init(), settings, keys: nil).line
        #expect(Self.members(line)["br"] == "br=(3200;av)" && Self.members(line)["ab"] == nil)
    }

    @Test("extreme times and numbers become valid field values")
    func extremes() {
        var facts = ClientDataFacts()
        facts.bufferLength = .seconds(Int64.max)
        facts.deadline = .seconds(Int64.min)
        facts.throughput = .greatestFiniteMagnitude
        facts.bitRates.encoded = .infinity
        facts.rate = .greatestFiniteMagnitude
        var settings = ClientData()
        settings.requestedThroughputFactor = .nan
        let line = ClientDataReport(request: "", facts, .init(), settings).line
        #expect(line.contains("bl=900000000000000"))
        #expect(!line.contains("br="))
        #expect(StructuredItem.dictionary(line) != nil, "\(line)")
    }

    @Test(
        "the next object is named relative to the request",
        arguments: [
            ("https://a.example/x/1.ts", "https://a.example/x/2.ts", "2.ts"),
            ("https://a.example/x/1.ts", "https://a.example/x/1.ts", "1.ts"),
            ("https://a.example/x/y/1.ts", "https://a.example/2.ts", "../../2.ts"),
            ("https://a.example/1.ts", "https://a.example/x/y/2.ts?q=a/b", "x/y/2.ts?q=a/b"),
            ("https://a.example/x/1.ts?u=/z/", "https://a.example/x/2.ts", "2.ts"),
            ("https://a.example/x/1.ts", "https://a.example/x/a:b.ts", "./a:b.ts"),
            ("https://a.example/x/1.ts", "https://a.example/x/", "./"),
            ("https://a.example/x/1.ts", "http://a.example/x/2.ts", nil),
            ("https://a.example/x/1.ts", "https://a.example:8443/x/2.ts", nil), ("", "https://a.example/2.ts", nil),
        ] as [(String, String, String?)])
    func relative(base: String, target: String, path: String?) {
        #expect(RelativeReference.path(to: target, from: base) == path)
    }
}
