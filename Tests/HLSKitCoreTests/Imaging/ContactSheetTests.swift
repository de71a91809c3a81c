import HLSKitCodec
import HLSKitLoading
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitImaging

@Suite("Contact sheets and storyboards", .timeLimit(.minutes(10)))
struct ContactSheetTests {
    private static func image(_ width: Int, _ height: Int, _ red: UInt8) throws -> StillImage {
        let pixels = [[UInt8]](repeating: [red, 0, 0, 255], count: width * height).flatMap(\.self)
        return try #require(StillImage(width: width, height: height, pixels: pixels))
    }

    private static func red(_ image: StillImage, _ x: Int, _ y: Int) -> UInt8 {
        image.pixels[(y * image.width + x) * 4]
    }

    @Test(
        "L01: tiles are as large as the largest image, in about as many columns as rows",
        arguments: [
            (1, nil, 1, 1), (2, nil, 2, 1), (4, nil, 2, 2), (5, nil, 3, 2), (10, nil, 4, 3), (5, 2, 2, 3), (3, 8, 3, 1),
            (3, 0, 1, 3), (3, -7, 1, 3),
        ] as [(Int, Int?, Int, Int)])
    func layout(_ count: Int, _ columns: Int?, _ expectedColumns: Int, _ rows: Int) throws {
        let images = try (0..<count).map { try Self.image(4, 3, UInt8($0)) }
        let sheet = try ContactSheet(of: images, columnCount: columns)
        #expect(sheet.columnCount == expectedColumns)
        #expect(sheet.tileSize == PixelSize(width: 4, height: 3))
        #expect((sheet.image.width, sheet.image.height) == (expectedColumns * 4, rows * 3))
        for index in 0..<count {
            let rect = try #require(sheet.rect(ofTileAt: index))
            #expect(Self.red(sheet.image, Int(rect.x) + 3, Int(rect.y) + 2) == UInt8(index))
        }
        #expect(sheet.rect(ofTileAt: count) == nil)
        #expect(sheet.rect(ofTileAt: -1) == nil)
    }

    @Test("L01: smaller images are centred in their tiles, and a missing one is black")
    func middle() throws {
        let sheet = try ContactSheet(of: [Self.image(2, 2, 9), nil, Self.image(6, 4, 7)], columnCount: 3)
        #expect((sheet.image.width, sheet.image.height) == (18, 4))
        let row = (0..<18).map { Self.red(sheet.image, $0, 1) }
        #expect(row == [0, 0, 9, 9, 0, 0] + [0, 0, 0, 0, 0, 0] + [7, 7, 7, 7, 7, 7])
        #expect(sheet.image.pixels[3] == 255)
        #expect(Self.red(sheet.image, 2, 0) == 0)
    }

    @Test("L01: a sheet without images, or too large, fails")
    func failures() throws {
        #expect(throws: ContactSheet.empty) { try ContactSheet(of: []) }
        #expect(throws: ContactSheet.empty) { try ContactSheet(of: [nil, nil]) }
        let wide = try Self.image(20_000, 1, 1)
        #expect(throws: ContactSheet.tooLarge) { try ContactSheet(of: [wide, wide], columnCount: 2) }
        #expect(try ContactSheet(of: [wide, wide], columnCount: 1).image.height == 2)
    }

    @Test("L01: the sheet has the colours of its images")
    func colors() throws {
        let image = StillImage(
            width: 1, height: 1, pixels: [1, 2, 3, 255], colorPrimaries: .bt2020, transferFunction: .pq)
        let sheet = try ContactSheet(of: [image])
        #expect(sheet.image.colorPrimaries == .bt2020)
        #expect(sheet.image.transferFunction == .pq)
    }

    @Test("L01: a storyboard has a cue for each image with a duration, with its file and area")
    func webVTT() throws {
        let sheet = try ContactSheet(of: (0..<4).map { try Self.image(4, 3, UInt8($0)) })
        func range(_ start: Double, _ end: Double) -> MediaTimeRange {
            let times = [MediaTime].seconds(start, end)
            return MediaTimeRange(start: times[0], end: times[1])
        }
        let ranges = [
            range(0, 1.5), range(2, 2), MediaTimeRange(start: .zero, duration: .indefinite), range(3599.999, 3661.25),
            range(9000, 9001),
        ]
        let text = sheet.webVTT(timeRanges: ranges, imageURI: "a b.jpg")
        #expect(
            text == """
                WEBVTT

                00:00:00.000 --> 00:00:01.500
                a%20b.jpg#xywh=0,0,4,3

                00:59:59.999 --> 01:01:01.250
                a%20b.jpg#xywh=4,3,4,3

                """)
    }

    @Test(
        "L01: names cannot break out of their line",
        arguments: [
            ("a\n\n00:01 --> 00:02\nx", "a%0A%0A00:01%20--%3E%2000:02%0Ax"), ("ü.png", "%C3%BC.png"),
            ("a%20b?c=d&e", "a%20b?c=d&e"), ("a#b", "a%23b"),
        ])
    func names(_ name: String, escaped: String) throws {
        let sheet = try ContactSheet(of: [Self.image(1, 1, 0)])
        let ranges = [MediaTimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 1))]
        let lines = sheet.webVTT(timeRanges: ranges, imageURI: name).split(separator: "\n")
        #expect(lines.last == "\(escaped)#xywh=0,0,1,1")
        #expect(lines.count == 3)
    }

    @Test("L01: one call makes a stream's images, sheet and storyboard")
    func storyboard() async throws {
        let generator = SampleImages.generator(try SampleImages.transport())
        generator.maximumSize = PixelSize(width: 64, height: 0)
        let duration = try await generator.loadTimeRange().duration
        let plan = StoryboardPlan(count: 4, duration: duration)
        let storyboard = try await generator.storyboard(plan, columnCount: 2)
        #expect(storyboard.results.map(\.requestedTime) == plan.times)
        #expect(storyboard.sheet.tileSize == PixelSize(width: 64, height: 36))
        #expect((storyboard.sheet.image.width, storyboard.sheet.image.height) == (128, 72))
        let third = try #require(storyboard.results[2].image)
        let row = storyboard.sheet.image.pixels[36 * 128 * 4..<(36 * 128 + 64) * 4]
        #expect(Array(row) == Array(third.pixels[..<(64 * 4)]))
        let text = storyboard.webVTT(imageURI: "s.png")
        #expect(text.hasPrefix("WEBVTT\n\n00:00:00.000 --> 00:00:10.000\ns.png#xywh=0,0,64,36\n"))
        #expect(text.hasSuffix("00:00:30.000 --> 00:00:40.000\ns.png#xywh=64,36,64,36\n"))
    }

    @Test("L01: a storyboard without any image fails with the first image's error")
    func noImages() async throws {
        let generator = SampleImages.generator(TableTransport([:]))
        let plan = StoryboardPlan(times: .seconds(1, 2), duration: .indefinite)
        await #expect(throws: HLSError.self) { try await generator.storyboard(plan) }
        let nothing = StoryboardPlan(count: 0, duration: .indefinite)
        await #expect(throws: ContactSheet.empty) { try await generator.storyboard(nothing) }
    }
}

@Suite("Storyboard plans")
struct StoryboardPlanTests {
    private static func spans(_ plan: StoryboardPlan) -> [[Double]] {
        zip(plan.times, plan.timeRanges).map { [$0.seconds, $1.start.seconds, $1.end.seconds] }
    }

    @Test("L01: a fixed number of images is spread evenly, each in the middle of its span")
    func count() throws {
        let plan = StoryboardPlan(count: 4, duration: MediaTime(value: 40, timescale: 1))
        #expect(Self.spans(plan) == [[5, 0, 10], [15, 10, 20], [25, 20, 30], [35, 30, 40]])
        let odd = StoryboardPlan(count: 7, duration: MediaTime(value: 1, timescale: 3))
        #expect(zip(odd.timeRanges, odd.timeRanges.dropFirst()).allSatisfy { $0.end == $1.start })
        #expect(odd.timeRanges.last?.end == MediaTime(value: 333_333_333, timescale: 1_000_000_000))
    }

    @Test(
        "L01: without a count or a duration there are no images",
        arguments: [
            (0, MediaTime(value: 1, timescale: 1)), (-1, MediaTime(value: 1, timescale: 1)), (3, .zero),
            (3, .indefinite),
            (3, .positiveInfinity), (3, MediaTime(value: -5, timescale: 1)),
        ])
    func nothing(_ count: Int, _ duration: MediaTime) {
        #expect(StoryboardPlan(count: count, duration: duration).times.isEmpty)
    }

    @Test("L01: the number of images is bounded for any declared duration")
    func longest() {
        let plan = StoryboardPlan(count: .max, duration: MediaTime(value: .max, timescale: 1))
        #expect(plan.times.count == StoryboardPlan.maximumCount)
        #expect(plan.times == plan.times.sorted())
    }

    @Test("L01: at an interval the last image covers the remainder")
    func interval() throws {
        let plan = try #require(
            StoryboardPlan(every: MediaTime(value: 4, timescale: 1), duration: MediaTime(value: 10, timescale: 1)))
        #expect(Self.spans(plan) == [[0, 0, 4], [4, 4, 8], [8, 8, 10]])
        let second = MediaTime(value: 1, timescale: 1)
        #expect(StoryboardPlan(every: .zero, duration: second) == nil)
        #expect(StoryboardPlan(every: second, duration: .indefinite) == nil)
        #expect(StoryboardPlan(every: second, duration: MediaTime(value: 10_001, timescale: 1)) == nil)
        #expect(StoryboardPlan(every: second, duration: MediaTime(value: 10_000, timescale: 1))?.times.count == 10_000)
    }

    @Test("L01: given times are sorted, and each image covers the time until the next")
    func times() {
        let times = [MediaTime].seconds(7, 2) + [.indefinite] + .seconds(12)
        #expect(
            Self.spans(StoryboardPlan(times: times, duration: MediaTime(value: 10, timescale: 1)))
                == [[2, 2, 7], [7, 7, 12], [12, 12, 12]])
        #expect(Self.spans(StoryboardPlan(times: .seconds(2), duration: .indefinite)) == [[2, 2, 2]])
    }
}
