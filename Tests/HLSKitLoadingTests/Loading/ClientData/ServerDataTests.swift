import HLSKitTime
import Testing

@testable import HLSKitLoading

@Suite("Data from servers (CMSD)")
struct ServerDataTests {
    private static func fields(_ list: (String, String)...) -> [TransportField] {
        list.map { TransportField(name: $0.0, value: $0.1) }
    }

    @Test("static data describes the resource, dynamic data each server, the nearest one last")
    func reads() throws {
        let data = try #require(
            ServerData(
                Self.fields(
                    ("cmsd-static", "ot=v,sf=h,st=v,d=5000,br=2000,at=1700000000000,ht=150,n=\"OriginProviderA\""),
                    ("CMSD-Dynamic", "\"CDNB-3ak1\";etp=96;rtt=8;mb=3000;rd=30"),
                    ("CMSD-Dynamic", "\"CDNB-w35k\";etp=76;rtt=32;mb=9000;du;rd=12"))))
        #expect(data.availabilityTime == 1_700_000_000_000)
        #expect(data.heldTime == .milliseconds(150))
        #expect(data.estimatedThroughput == 76_000)
        #expect(data.roundTripTime == .milliseconds(32))
        #expect(data.maximumBitRate == 3_000_000)
        #expect(data.responseDelay == .milliseconds(30))
        #expect(data.isUnderDuress)
        #expect(data.dynamicText?.contains("w35k") == true)
    }

    @Test(
        "malformed CMSD fields are ignored; their raw text is kept",
        arguments: [
            "etp=", "\"a", "\"a\";", ",", "\"a\";etp=99999999999999999999", "\"a\";etp=-5", "\"a\";etp=x", "()",
            "\"a\\\";etp=1", "\u{7F}", ";;;", "\"a\";etp=1.2345", "a b", "\"a\",", "?2", ":abc", "-", "1.", "(1",
        ])
    func damaged(text: String) throws {
        let data = try #require(ServerData(Self.fields(("CMSD-Dynamic", text), ("CMSD-Static", text))))
        #expect(data.estimatedThroughput == nil)
        #expect(data.maximumBitRate == nil)
        #expect(data.dynamicText == text)
    }

    @Test("a response without CMSD has no data")
    func none() {
        #expect(ServerData(Self.fields(("Content-Type", "video/mp4"), ("CMSD", "x"))) == nil)
        #expect(ServerData(Self.fields(("CMSD-Static", ""))) == nil)
    }

    @Test("structured fields are parsed according to RFC 8941")
    func structured() throws {
        let members = try #require(
            StructuredItem.dictionary("a=1;x;y=2, b=(1 \"t\";q);l, c , d=?0,e=-1.5, f=:aGk=:,a=tok/1"))
        #expect(members["a"] == StructuredItem(value: .token("tok/1")))
        #expect(
            members["b"]
                == StructuredItem(
                    value: .list([
                        StructuredItem(value: .integer(1)),
                        StructuredItem(value: .string("t"), parameters: ["q": .flag(true)]),
                    ]), parameters: ["l": .flag(true)]))
        #expect(members["c"]?.value == .flag(true))
        #expect(members["d"]?.value == .flag(false))
        #expect(members["e"]?.value == .decimal(-1.5))
        #expect(members["f"]?.value == .bytes("aGk="))
        for text in ["A=1", "a=1 b=2", "a=1,", "a=(1", "a=(1)x", "a=\"é\"", "a=1234567890123456", "=1", "a==1"] {
            #expect(StructuredItem.dictionary(text) == nil, "\(text)")
        }
        #expect(StructuredItem.dictionary("")?.isEmpty == true)
    }

    @Test("no bytes trap the reader")
    func random() {
        var random = SplitMix64(seed: 7)
        let alphabet = Array("ab\"\\();=,?:01.-*/ \t\u{0}é~".utf8)
        for _ in 0..<20_000 {
            let count = Int(random.next() % 24)
            let bytes = (0..<count).map { _ in alphabet[Int(random.next() % UInt64(alphabet.count))] }
            let text = String(decoding: bytes, as: UTF8.self)
            _ = StructuredItem.dictionary(text)
            _ = StructuredItem.list(text)
        }
    }
}
