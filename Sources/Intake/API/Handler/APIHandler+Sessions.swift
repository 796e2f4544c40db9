internal import CardRules
internal import Lanes
internal import PushWire

extension APIHandler {
    func putSession(_ request: ParkedRequest) async {
        guard let id = request.match.values.key else { return }
        do throws(Problem) {
            let document = try request.document()
            let body: SessionBody
            do throws(FieldFault) { body = try SessionBody(document) } catch { throw Problem(error) }
            let outcome: SessionOutcome
            do throws(SessionFault) { outcome = try await supervisor.put(id, body.terms) } catch {
                throw Problem(error)
            }
            request.answer(status: outcome == .opened ? 201 : 200)
        } catch {
            request.answer(error)
        }
    }

    func stopSession(_ request: ParkedRequest) async {
        guard let id = request.match.values.key else { return }
        do throws(Problem) {
            var last: JSONValue?
            if !request.body.isEmpty {
                let document = try request.document()
                do throws(FieldFault) { last = try SessionBody.lastContent(document) } catch { throw Problem(error) }
            }
            do throws(SessionFault) { _ = try await supervisor.stop(id, content: last) } catch { throw Problem(error) }
            request.answer(status: 204)
        } catch {
            request.answer(error)
        }
    }
}

extension Problem {
    fileprivate init(_ fault: SessionFault) {
        switch fault {
        case .unavailable:
            self = .tryAgain("the store cannot write now")
        case .startedAtChanged:
            self.init(409, fault.detail, field: fault.field)
        case .tooLarge(let sizes, _):
            self.init(422, fault.detail, field: fault.field)
            extra = [
                (
                    "sizes",
                    .object([
                        "start": .integer(Int64(sizes.start)), "update": .integer(Int64(sizes.update)),
                        "end": .integer(Int64(sizes.end)), "limit": .integer(Int64(sizes.limit)),
                    ])
                )
            ]
        case .reservedID, .noDevices, .tooManyDevices, .unknownDevice, .startedOnStranger, .notAnObject, .blank:
            self.init(422, fault.detail, field: fault.field)
        }
    }
}
