import HLSKitCaptions
import HLSKitTime
import Testing

@Suite struct ScenaristTests {
    @Test("K04: SCC: a caption's bytes match the expected words")
    func golden() throws {
        let caption = Caption(
            "HI \u{266a} caf\u{e9}", timeRange: frames(300, 360),
            styles: [Caption.StyleRun(range: 5..<9, style: CaptionStyle(fontStyle: .italic))], textAlignment: .left)
        #expect(
            try written(.scenarist, [caption]) == """
                Scenarist_SCC V1.0

                00:00:09:16\t9420 9420 94ae 94ae 9470 9470 c849 2080 9137 9137 91ae 91ae e361 e6dc 942f 942f

                00:00:12:00\t942c 942c

                """)
    }

    @Test("K05: SCC: pop-on, roll-up and paint-on are read")
    func modes() throws {
        let content = try read(
            .scenarist,
            """
            Scenarist_SCC V1.0

            00:00:01:00\t94ae 94ae 9420 9420 9470 9470 6162 e380 942f 942f

            00:00:02:00\t942c 942c

            00:00:03:00\t9425 9425 94ad 94ad 9470 9470 6162

            00:00:04:00\t94ad 94ad e364

            00:00:05:00\t942c 942c 9429 9429 91d0 91d0 4cef f7ba

            00:00:06:00\t942c 942c
            """)
        #expect(content.notes.isEmpty)
        #expect(content.captions.map(\.text) == ["abc", "ab", "ab\ncd", "Low:"])
        #expect(
            content.captions.map(\.timeRange) == [
                frames(38, 60), frames(96, 120), frames(120, 150), frames(156, 180),
            ])
        #expect(content.captions.map(\.animation) == [.none, .none, .none, .characterReveal])
        let scrolls = content.captions.compactMap { $0.region?.scroll }
        #expect(scrolls == [.none, .rollUp, .rollUp, .none])
        #expect(content.captions.map { $0.region?.origin.y } == [.cells(14), .cells(14), .cells(13), .cells(0)])
    }

    @Test("K05: SCC: drop frame and non-drop frame time codes are read")
    func dropFrame() throws {
        let codes = ["00:01:00;02", "00:10:00;00", "01:00:00;00", "00:01:00:02", "00:01:00.02"]
        let times = try codes.map { code in
            try read(.scenarist, "Scenarist_SCC V1.0\n\n\(code)\t9429 9429 9470 9470 6162\n\n02:00:00;00\t942c")
                .captions
                .first?.timeRange.start
        }
        #expect(times == [1804, 17_986, 107_896, 1806, 1804].map { frames($0, $0 + 1).start })
    }

    @Test("K05: SCC: odd files end with notes or an error, and keep the readable captions")
    func odd() throws {
        #expect(throws: CaptionError(code: .notThisFormat, line: 1, text: "it does not begin with Scenarist_SCC")) {
            try read(.scenarist, "WEBVTT")
        }
        let content = try read(
            .scenarist, "Scenarist_SCC V1.0\nx\n00:00:01:00\t1429 1470 1470 zz 6162\n00:00:99:00 9420\n")
        #expect(content.captions.map(\.text) == ["ab"])
        #expect(content.captions.first?.timeRange.duration == .positiveInfinity)
        #expect(content.notes.map(\.line) == [2, 3, 4])
    }

    @Test("K04: SCC: written captions read back unchanged", arguments: UInt64(0)..<60)
    func roundTrip(seed: UInt64) throws {
        var maker = CaptionMaker(seed: seed)
        maker.words = [
            "Hello", "a", "\u{c9}T\u{c9}", "\u{266a}", "\u{201c}x\u{201d}", "{b}", "na\u{ef}ve", "100%", "\u{f1}",
        ]
        var captions: [Caption] = []
        var frame: Int64 = 240
        for index in 0..<8 {
            let (text, runs) = maker.text { random in
                let color = [nil, nil, CaptionColor.yellow, .cyan].randomElement(using: &random) ?? nil
                return CaptionStyle(
                    textColor: color, fontStyle: color == nil && Bool.random(using: &random) ? .italic : .normal,
                    decoration: Int.random(in: 0..<4, using: &random) == 0 ? .underline : [])
            }
            let end = frame + Int64.random(in: 150...240, using: &maker.random)
            let column = Double(Int.random(in: 0...4, using: &maker.random))
            let row = Double(Int.random(in: 0...12, using: &maker.random))
            captions.append(
                Caption(
                    text, timeRange: frames(frame, end),
                    region: CaptionRegion(
                        origin: CaptionPoint(x: .cells(column), y: .cells(row)),
                        size: CaptionSize(width: .cells(28), height: .cells(3))), styles: runs, textAlignment: .left))
            frame = end + (index % 3 == 0 ? 0 : Int64.random(in: 1...60, using: &maker.random))
        }
        for isDropFrame in [false, true] {
            var writer = CaptionFileWriter(format: .scenarist)
            writer.usesDropFrameTimeCode = isDropFrame
            let output = try writer.write(captions)
            #expect(output.notes.isEmpty)
            let content = try CaptionFileReader(format: .scenarist).read(output.bytes)
            #expect(content.notes.isEmpty)
            #expect(content.captions.map(\.text) == captions.map(\.text))
            // The end may be one frame late because erasing may need a frame.
            for (got, wanted) in zip(content.captions, captions) {
                #expect(got.timeRange.start == wanted.timeRange.start)
                let late = got.timeRange.end - wanted.timeRange.end
                #expect(late >= .zero && late < MediaTime(value: 2 * 1001, timescale: 30_000))
                #expect(got.region?.origin == wanted.region?.origin)
            }
            let again = try writer.write(content.captions)
            #expect(try CaptionFileReader(format: .scenarist).read(again.bytes) == content)
        }
    }
}
