import HLSKitCaptions
import HLSKitTime
import Testing

@Suite struct TimedTextVisibilityTests {
    struct Document: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var head = ""
        var body: String
        /// Start, end and text; -1 for no end.
        var expected: [String]
    }

    private static let documents = [
        Document(
            testDescription: "set shows what is not displayed",
            body:
                "<div timeContainer='seq' dur='20s'><p dur='10s' s:display='none'><set s:display='auto' begin='5s'/>a</p></div>",
            expected: ["5-10 a"]),
        Document(
            testDescription: "set for a time",
            body: "<p begin='1s' end='9s' s:visibility='hidden'><set s:visibility='visible' begin='1s' dur='2s'/>a</p>",
            expected: ["2-4 a"]),
        Document(
            testDescription: "set hides", body: "<p end='9s'><set s:display='none' begin='3s' end='5s'/>a</p>",
            expected: ["0-3 a", "5-9 a"]),
        Document(
            testDescription: "a span alone",
            body: "<p end='9s'>a <span s:display='none'><set s:display='auto' begin='5s'/>b</span></p>",
            expected: ["0-5 a", "5-9 a b"]),
        Document(
            testDescription: "what is around hides all that is in it",
            body: "<div s:display='none'><p end='9s' s:display='auto'>a</p></div><p end='9s'>b</p>", expected: ["0-9 b"]
        ),
        Document(
            testDescription: "visibility is inherited until something says otherwise",
            body: "<div s:visibility='hidden'><p end='9s'>a<span s:visibility='visible'>b</span></p></div>",
            expected: ["0-9 b"]),
        Document(
            testDescription: "a region that is there for a time",
            head: "<layout><region xml:id='r' begin='2s' end='4s'/><region xml:id='t'/></layout>",
            body: "<p region='r' end='9s'>a</p><p region='t' end='9s'>b</p>", expected: ["2-4 a", "0-9 b"]),
        Document(
            testDescription: "a region that is shown by set",
            head: "<layout><region xml:id='r' s:display='none'><set begin='3s' s:display='auto'/></region></layout>",
            body: "<p region='r' end='9s'>a</p>", expected: ["3-9 a"]),
        Document(
            testDescription: "text between the elements of a sequence",
            body: "<p timeContainer='seq' end='9s'>no<span dur='2s'>a</span>no<span dur='3s'>b</span></p>",
            expected: ["0-2 a", "2-5 b"]),
        Document(
            testDescription: "regions of spans, and text in none",
            head: "<layout><region xml:id='r'/><region xml:id='t'/></layout>",
            body: "<p end='9s'>no <span region='r'>a</span> <span region='t'>b</span></p>",
            expected: ["0-9 a", "0-9 b"]),
        Document(
            testDescription: "elements of other namespaces",
            body: "<p end='9s' xmlns:f='http://foreign'>a<f:span>no</f:span></p>"
                + "<f:p xmlns:f='http://foreign' end='9s'>no</f:p><p xmlns='http://foreign' end='9s'>no</p>",
            expected: ["0-9 a"]),
    ]

    @Test("text is shown while it, its ancestors and its region are visible", arguments: documents)
    func shown(_ document: Document) throws {
        let text = """
            <tt xmlns="http://www.w3.org/ns/ttml" xmlns:s="http://www.w3.org/ns/ttml#styling">
            <head>\(document.head)</head><body>\(document.body)</body></tt>
            """
        let content = try read(.iTunesTimedText, text)
        let shown = content.captions.map { caption in
            let range = caption.timeRange
            return "\(Int(range.start.seconds))-\(range.end.isNumeric ? Int(range.end.seconds) : -1) \(caption.text)"
        }
        #expect(shown == document.expected)
        #expect(content.notes.isEmpty)
    }

    @Test("a root element with another or no namespace is read", arguments: ["", "xmlns='http://foreign'"])
    func otherRoots(namespace: String) throws {
        let content = try read(.iTunesTimedText, "<tt \(namespace)><body><div><p end='1s'>a</p></div></body></tt>")
        #expect(content.captions.map(\.text) == ["a"])
    }

    @Test("style changes by set are reported")
    func styleChange() throws {
        let text = """
            <tt xmlns="http://www.w3.org/ns/ttml" xmlns:s="http://www.w3.org/ns/ttml#styling"><body>
            <p end='9s'><set s:color='red' begin='3s'/>a</p></body></tt>
            """
        let content = try read(.iTunesTimedText, text)
        #expect(content.captions.map(\.text) == ["a"])
        #expect(content.notes.map(\.text) == ["style animation (set) is not supported"])
    }
}
