import HLSKitCaptions
import HLSKitTime
import Testing

private let hour = MediaTimeRange(start: .zero, duration: MediaTime(value: 3600, timescale: 1))
private let pangram = "The quick brown fox jumps over\nthe lazy dog and goes on."

@Suite struct ConversionTests {
    private func warnings(_ captions: [Caption]) async throws -> [CaptionConversionWarning] {
        let validator = CaptionConversionValidator(captions: captions, timeRange: hour)
        var warnings: [CaptionConversionWarning] = []
        for await warning in try validator.validateCaptionConversion() {
            warnings.append(warning)
            #expect(validator.warnings == warnings)
            #expect(validator.status == .validating)
        }
        #expect(validator.status == .completed)
        return warnings
    }

    @Test("K06: captions that fit give no warning")
    func fits() async throws {
        #expect(
            try await warnings([
                Caption("Hello", timeRange: frames(100, 200)), Caption(pangram, timeRange: frames(250, 400)),
            ]) == [])
    }

    @Test("K06: a caption at time zero cannot be sent earlier: the warning gives the necessary shift")
    func startsAtZero() async throws {
        let caption = Caption("Hi", timeRange: frames(0, 90), textAlignment: .left)
        let found = try await warnings([caption])
        // Seven frames: resume caption loading, erase and a preamble, each twice, and one word of text.
        #expect(
            found == [
                CaptionConversionWarning(
                    warningType: .excessMediaData, rangeOfCaptions: 0..<1,
                    adjustment: CaptionConversionTimeRangeAdjustment(
                        startTimeOffset: frames(7, 8).start, durationOffset: -frames(7, 8).start))
            ])
        let moved = try #require(found.first?.adjustment).applied(to: caption)
        #expect(moved.timeRange == frames(7, 90))
        #expect(try await warnings([moved]) == [])
    }

    @Test("K06: two bytes per frame: captions too close must move, and moved captions fit")
    func budget() async throws {
        let captions = [
            Caption(pangram, timeRange: frames(100, 110)), Caption(pangram, timeRange: frames(110, 200)),
            Caption("x", timeRange: frames(300, 400)),
        ]
        let found = try await warnings(captions)
        #expect(found.map(\.rangeOfCaptions) == [1..<2])
        #expect(found.map(\.warningType) == [.excessMediaData])
        var moved = captions
        moved[1] = try #require(found.first?.adjustment).applied(to: captions[1])
        #expect(moved[1].timeRange.end == captions[1].timeRange.end)
        #expect(try await warnings(moved) == [])
        let output = try CaptionFileWriter(format: .scenarist).write(captions)
        #expect(output.notes.count == 1)
        let read = try CaptionFileReader(format: .scenarist).read(output.bytes).captions
        #expect(read.map(\.timeRange.start) == moved.map(\.timeRange.start))
    }

    @Test("K06: a caption that can only be loaded after its end is omitted when written")
    func dropped() async throws {
        let captions = [
            Caption(pangram, timeRange: frames(100, 110)), Caption(pangram, timeRange: frames(110, 114)),
            Caption("x", timeRange: frames(300, 400)),
        ]
        #expect(try await warnings(captions).map(\.rangeOfCaptions) == [1..<2])
        let output = try CaptionFileWriter(format: .scenarist).write(captions)
        let read = try CaptionFileReader(format: .scenarist).read(output.bytes).captions
        #expect(read.map(\.text) == [pangram, "x"])
        #expect(read.map(\.timeRange.start) == [frames(100, 101).start, frames(300, 301).start])
        #expect(read[0].timeRange.end < frames(120, 121).start)
    }

    @Test("K06: characters, columns and rows unknown to CEA-608 give warnings")
    func grid() async throws {
        let captions = [
            Caption("\u{4e2d}", timeRange: frames(1000, 1100)),
            Caption(String(repeating: "x", count: 33), timeRange: frames(2000, 2100)),
            Caption(String(repeating: "x\n", count: 16), timeRange: frames(3000, 3100)),
        ]
        #expect(
            try await warnings(captions) == [
                CaptionConversionWarning(warningType: .unsupportedCharacter, rangeOfCaptions: 0..<1),
                CaptionConversionWarning(warningType: .excessWidth, rangeOfCaptions: 1..<2),
                CaptionConversionWarning(warningType: .excessHeight, rangeOfCaptions: 2..<3),
            ])
        let conformer = CaptionFormatConformer()
        let conformed = try captions.map { try conformer.conformedCaption(for: $0) }
        #expect(try await warnings(conformed) == [])
        #expect(conformed[1].text == String(repeating: "x", count: 32) + "\nx")
        #expect(conformed[2].text.split(separator: "\n").count == 15)
    }

    @Test("K06: validation starts once, and stops on request")
    func life() async throws {
        let captions = (0..<5).map { Caption("Hi", timeRange: frames(Int64($0), Int64($0) + 1)) }
        let validator = CaptionConversionValidator(captions: captions, timeRange: hour)
        validator.stopValidating()
        #expect(validator.status == .unknown)
        var found = try validator.validateCaptionConversion()
        let error = #expect(throws: CaptionError.self) { try validator.validateCaptionConversion() }
        #expect(error?.code == .alreadyStarted)
        #expect(await found.next() != nil)
        validator.stopValidating()
        #expect(validator.status == .stopped)
        #expect(await found.next() == nil)
        #expect(validator.warnings.count == 1)
    }

    @Test("K06: a conformed caption matches CEA-608, and conforming again changes nothing")
    func conforms() throws {
        let caption = Caption(
            "Caf\u{e9} \u{2026} red \u{2018}q\u{2019}", timeRange: ms(5, 2005), region: .appleITTTop,
            styles: [
                Caption.StyleRun(range: 0..<4, style: CaptionStyle(fontWeight: .bold, fontStyle: .italic)),
                Caption.StyleRun(
                    range: 7..<10, style: CaptionStyle(textColor: CaptionColor(red: 200, green: 30, blue: 20))),
            ], identifier: "n")
        var conformer = CaptionFormatConformer()
        let conformed = try conformer.conformedCaption(for: caption)
        #expect(conformed.text == "Caf\u{e9} ... red \u{2018}q\u{2019}")
        #expect(
            conformed.styledWords.map(\.style) == [
                CaptionStyle(fontStyle: .italic), .plain, CaptionStyle(textColor: .red), .plain,
            ])
        #expect(conformed.region?.origin.y == .cells(0))
        #expect(conformed.timeRange == caption.timeRange)
        #expect(conformed.identifier == "n")
        #expect(try conformer.conformedCaption(for: conformed) == conformed)
        conformer.conformsCaptionsToTimeRange = true
        let timed = try conformer.conformedCaption(for: caption)
        #expect(timed.timeRange.start > caption.timeRange.start)
        #expect(timed.timeRange.end == frames(60, 61).start)
        #expect(try conformer.conformedCaption(for: timed) == timed)
    }

    @Test(
        "K04: positions that are not numbers are ignored",
        arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300],
        [CaptionDimension.Units.cells, .percent])
    func oddPlaces(value: Double, units: CaptionDimension.Units) throws {
        let dimension = CaptionDimension(value: value, units: units)
        for (x, y, name) in [(0, 1, nil), (1, 0, nil), (0, 0, "r"), (1, 1, "r")] as [(Int, Int, String?)] {
            let region = CaptionRegion(
                identifier: name,
                origin: CaptionPoint(x: x == 0 ? dimension : .unspecified, y: y == 0 ? dimension : .unspecified),
                size: CaptionSize(width: x == 1 ? dimension : .unspecified, height: y == 1 ? dimension : .cells(2)),
                scroll: name == nil ? .none : .rollUp)
            let caption = Caption("a", timeRange: ms(1000, 2000), region: region, textAlignment: .center)
            for format in CaptionFormat.allCases {
                #expect(try read(format, written(format, [caption])).captions.map(\.text) == ["a"])
            }
            #expect(try CaptionFormatConformer().conformedCaption(for: caption).text == "a")
        }
    }

    @Test("K06: each warning is reported once, however many tasks read warnings")
    func concurrentWarnings() async throws {
        let captions = (0..<600).map { Caption("\u{4e00}\($0)", timeRange: ms(Int64($0) * 40, Int64($0) * 40 + 30)) }
        func validator() -> CaptionConversionValidator {
            CaptionConversionValidator(captions: captions, timeRange: ms(0, 100_000))
        }
        var expected: [CaptionConversionWarning] = []
        for await warning in try validator().validateCaptionConversion() { expected.append(warning) }
        let shared = validator()
        let warnings = try shared.validateCaptionConversion()
        let found = await withTaskGroup(of: [CaptionConversionWarning].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var found: [CaptionConversionWarning] = []
                    for await warning in warnings {
                        found.append(warning)
                        await Task.yield()
                    }
                    return found
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(found.count == expected.count && Set(found) == Set(expected))
        #expect(shared.warnings == expected)
        #expect(shared.status == .completed)
    }

    @Test("K06: drop frame has fewer time codes, so they end earlier")
    func dropFrame() throws {
        let late = Caption("a", timeRange: ms(360_030_000, 360_031_000))
        var conformer = CaptionFormatConformer()
        conformer.conformsCaptionsToTimeRange = true
        #expect(try conformer.conformedCaption(for: late).text == "a")
        conformer.conversionSettings.usesDropFrameTimeCode = true
        #expect(throws: CaptionError.self) { try conformer.conformedCaption(for: late) }
    }

    @Test("K08: scenes follow each other without gaps, including empty ones")
    func scenes() {
        let captions = [
            Caption("a", timeRange: ms(1000, 3000)), Caption("b", timeRange: ms(2000, 4000)),
            Caption("c", timeRange: ms(5000, 9000), animation: .characterReveal), Caption("d", timeRange: ms(0, 500)),
        ]
        let scenes = CaptionGrouper.scenes(of: captions, in: ms(700, 8000))
        #expect(
            scenes.map(\.timeRange) == [
                ms(700, 1000), ms(1000, 2000), ms(2000, 3000), ms(3000, 4000), ms(4000, 5000), ms(5000, 8000),
            ])
        #expect(scenes.map { $0.captions.map(\.text) } == [[], ["a"], ["a", "b"], ["b"], [], ["c"]])
        #expect(scenes.map(\.hasActiveCaptions) == [false, true, true, true, false, true])
        #expect(scenes.map(\.needsPeriodicRefresh) == [false, false, false, false, false, true])
        #expect(CaptionGrouper.scenes(of: [], in: ms(0, 1000)).map(\.timeRange) == [ms(0, 1000)])
    }

    @Test("K04, K08: a scene has a limited number of captions, and the excess is reported")
    func manyAtOnce() throws {
        let captions = (0..<200).map { Caption("\($0)", timeRange: ms(1000, 2000 + Int64($0) * 40)) }
        let scenes = CaptionGrouper.scenes(of: captions, in: ms(0, 20_000))
        #expect(scenes.map(\.captions.count).max() == 64)
        #expect(scenes[1].captions == Array(captions.prefix(64)))
        let output = try CaptionFileWriter(format: .scenarist).write(captions)
        #expect(output.notes.contains { $0.text.hasSuffix("text was skipped") })
        #expect(output.notes.count < 20)
    }

    @Test("K04: a grouper returns simultaneous captions, up to any time")
    func grouping() {
        var grouper = CaptionGrouper()
        grouper.addCaption(Caption("a", timeRange: ms(1000, 3000)))
        grouper.addCaption(Caption("b", timeRange: ms(2000, 4000)))
        #expect(
            grouper.flushAddedCaptions(upTo: MediaTime(value: 5, timescale: 2)).map { $0.captions.map(\.text) } == [
                ["a"], ["a", "b"],
            ])
        let rest = grouper.flushAddedCaptions(upTo: .positiveInfinity)
        #expect(rest.map { $0.captions.map(\.text) } == [["a", "b"], ["b"]])
        #expect(rest.map(\.timeRange) == [ms(2500, 3000), ms(3000, 4000)])
    }
}
