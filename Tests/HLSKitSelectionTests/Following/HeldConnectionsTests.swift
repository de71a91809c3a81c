import HLSKitSelection
import Testing

@Suite("Whether a server keeps connections")
struct HeldConnectionsTests {
    @Test(
        "M05: two new connections in a row for held requests tell that none is kept, for good",
        arguments: [
            ([], true), ([true], true), ([true, false, true], true), ([true, true], false),
            ([false, true, true, false, false], false),
        ] as [([Bool], Bool)])
    func answers(_ areNew: [Bool], _ areKept: Bool) {
        var connections = HeldConnections()
        for isNew in areNew { connections.noteAnswer(isNew: isNew) }
        #expect(connections.areKept == areKept)
    }
}
