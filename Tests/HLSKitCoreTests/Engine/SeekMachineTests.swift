import Testing

@testable import HLSKitCore

@Suite("Seek machine")
struct SeekMachineTests {
    private static let request = SeekRequest(destination: .time(.seconds(8)))
    private static let own = SeekRequest(destination: .time(.seconds(8)), isOwn: true)

    @Test("a seek is under way from its request to its end, which gives the request back", arguments: [request, own])
    func seeks(_ request: SeekRequest) {
        var seek = SeekMachine()
        #expect(!seek.isUnderWay)
        #expect(seek.end() == nil)
        seek.begin(request, to: .zero)
        #expect((seek.target, seek.request) == (.zero, request))
        #expect(seek.landing == nil)
        seek.land(on: .exact(.seconds(8)))
        #expect(seek.target == .seconds(8))
        #expect(seek.end() == request)
        #expect((seek.target, seek.request) == (nil, nil))
        // Where presentation began stays known.
        #expect(seek.landing == .exact(.seconds(8)))
    }

    @Test("a move without a seek begins none")
    func moves() {
        var seek = SeekMachine()
        seek.land(on: .undecided(near: .seconds(4)))
        #expect(!seek.isUnderWay)
        #expect(seek.undecidedTarget == nil)
        seek.begin(Self.request, to: .seconds(4))
        #expect(seek.undecidedTarget == .seconds(4))
    }

    @Test("the outputs are asked once for media at the target, and again when it comes from elsewhere")
    func asks() {
        var seek = SeekMachine()
        #expect(!seek.mayAskForTarget)
        seek.begin(Self.request, to: .seconds(8))
        #expect(seek.mayAskForTarget)
        seek.askForTarget(3)
        #expect(!seek.mayAskForTarget)
        seek.land(on: .sync(.seconds(7)))
        #expect(seek.isSeekQuestion(3) && !seek.isSeekQuestion(2) && !seek.isPrerollQuestion(3))
        seek.forgetQuestion()
        #expect(seek.mayAskForTarget && !seek.isSeekQuestion(3))
    }

    @Test("a newer seek is not answered by what the one before has asked")
    func supersedes() {
        var seek = SeekMachine()
        seek.begin(Self.request, to: .seconds(8))
        seek.askForTarget(3)
        _ = seek.end()
        seek.begin(Self.request, to: .seconds(20))
        #expect(!seek.isSeekQuestion(3))
    }

    @Test("a preroll waits for media, then for the outputs")
    func prerolls() {
        var seek = SeekMachine()
        #expect(!seek.isPrerolling && !seek.prerollWaitsForMedia)
        seek.beginPreroll()
        #expect(seek.isPrerolling && seek.prerollWaitsForMedia)
        seek.askForPreroll(4)
        #expect(seek.isPrerolling && !seek.prerollWaitsForMedia)
        #expect(seek.isPrerollQuestion(4) && !seek.isSeekQuestion(4))
        seek.endPreroll()
        #expect(!seek.isPrerolling && !seek.isPrerollQuestion(4))
    }

    @Test("the first media is asked for where nothing else is, and again after a seek")
    func starts() {
        var seek = SeekMachine()
        #expect(seek.mayAskForFirst)
        seek.beginPreroll()
        #expect(seek.mayAskForFirst)
        seek.askForPreroll(1)
        #expect(!seek.mayAskForFirst)
        seek.endPreroll()
        seek.askForFirst(2)
        #expect(!seek.mayAskForFirst)
        seek.begin(Self.request, to: .seconds(8))
        #expect(!seek.mayAskForFirst)
        _ = seek.end()
        #expect(seek.mayAskForFirst)
        seek.askForFirst(3)
        #expect(seek.noteFirstDecoded() == true)
        #expect(seek.hasDecodedFirst)
        // Nobody waits any more.
        #expect(seek.noteFirstDecoded() == false)
    }
}
