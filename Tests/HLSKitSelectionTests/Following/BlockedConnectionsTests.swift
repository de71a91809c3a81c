import HLSKitSelection
import Testing

@Suite("Server connections kept alive")
struct HeldConnectionsTests {
    @Test(
        "M05: two new connections in a row for blocking requests mean that none is kept",
        arguments: [
            ([], true), ([true], true), ([true, false, true], true), ([true, true], false),
            ([false, true, true, false, false], false),
        ] as [([Bool], Bool)])
    func answers(_ areNew: [Bool], _ areKept: Bool) {
        var connections = BlockedConnections()
        for isNew in areNew { connections.noteAnswer(isNew: isNew) }
        #expect(connections.areKept == areKept)
    }
}
